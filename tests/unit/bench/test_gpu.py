"""The code for CUDA graphs, run on a CPU."""

from pathlib import Path

from bench.gpu import CapturedModel
from bench.speech_distance import snr_db
from kokoro_voice.engine import Engine, Window
from kokoro_voice.onnx_model import Cancellation, OnnxModel
from kokoro_voice.voices import Voice

VOICE = Voice("af_heart", (("af_heart", 1.0),))


def test_inputs_that_stay_in_place_are_replaced(model_dir: Path) -> None:
    """If bound inputs were not updated, every window would sound like the first."""
    # This is the graph that a GPU runs.
    path = model_dir / "generator.onnx"
    engine = Engine(model_dir, threads=2)
    prosody = engine.prosody("ðə kwˈɪk bɹˈWn fˈɑks.", VOICE, 1.0, Cancellation())
    _, exact = engine.whole(prosody, Cancellation())
    engine.generator = OnnxModel(path, threads=2, provider="cpu")
    windows = [Window(prosody, exact, start, start + 12) for start in (20, 40)]
    expected = [engine.windows([window], Cancellation())[0] for window in windows]
    engine.generator = CapturedModel(path, threads=2, device="cpu")
    captured = [engine.windows([window], Cancellation())[0] for window in [*windows, windows[0]]]
    for one, other in zip(captured, [*expected, expected[0]], strict=True):
        assert snr_db(other, one) >= 90
