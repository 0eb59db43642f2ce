// Plays 16-bit mono PCM while it arrives. Each chunk starts exactly when the previous chunk ends.

// Delay before the first chunk, which leaves time to schedule it.
const LEAD_S = 0.02;

export class PcmPlayer {
  #context = new AudioContext();
  #sources = new Set();
  #sampleRateHz = 24000;
  #nextAt = 0;
  #startedAt = null;
  #stopped = false;
  underruns = 0;

  /** Begin a reply. Call this in a click or key handler, because browsers mute audio before one. */
  async start() {
    this.stop();
    this.#stopped = false;
    this.#startedAt = null;
    this.underruns = 0;
    await this.#context.resume();
  }

  set sampleRateHz(value) { this.#sampleRateHz = value; }

  /** Seconds of the reply that have been heard so far. */
  get playedS() {
    if (this.#startedAt === null) return 0;
    return Math.max(0, Math.min(this.#context.currentTime, this.#nextAt) - this.#startedAt);
  }

  /** Wait until all audio pushed so far has been heard. */
  async drained() {
    while (this.#sources.size) await Promise.all([...this.#sources].map((source) => source.done));
  }

  /** @param {ArrayBuffer} bytes whole little-endian 16-bit samples */
  push(bytes) {
    const samples = new Int16Array(bytes);
    if (!samples.length || this.#stopped) return;
    const buffer = this.#context.createBuffer(1, samples.length, this.#sampleRateHz);
    const channel = buffer.getChannelData(0);
    for (let i = 0; i < samples.length; i += 1) channel[i] = samples[i] / 32768;
    const now = this.#context.currentTime;
    if (this.#startedAt === null) {
      this.#startedAt = this.#nextAt = now + LEAD_S;
    } else if (this.#nextAt < now) {
      this.underruns += 1;
      this.#startedAt += now + LEAD_S - this.#nextAt; // exclude the silence from playedS
      this.#nextAt = now + LEAD_S;
    }
    const source = this.#context.createBufferSource();
    source.buffer = buffer;
    source.connect(this.#context.destination);
    source.done = new Promise((resolve) => { source.onended = resolve; });
    source.done.then(() => this.#sources.delete(source));
    source.start(this.#nextAt);
    this.#sources.add(source);
    this.#nextAt += buffer.duration;
  }

  /** Stop playback immediately, and ignore audio that arrives before the next `start`. */
  stop() {
    this.#stopped = true;
    this.#nextAt = Math.min(this.#nextAt, this.#context.currentTime);
    for (const source of this.#sources) source.stop();
  }
}
