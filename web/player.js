// Plays 16-bit mono PCM as it arrives, each piece right behind the one before.

// Room for the scheduling of the first piece; later pieces queue behind it.
const LEAD_S = 0.02;

export class PcmPlayer {
  #context = new AudioContext();
  #sources = new Set();
  #sampleRateHz = 24000;
  #nextAt = 0;
  #startedAt = null;
  #stopped = false;
  underruns = 0;

  /** Begin a reply. Call it from a click or key press: browsers keep audio silent before one. */
  async start() {
    this.stop();
    this.#stopped = false;
    this.#startedAt = null;
    this.underruns = 0;
    await this.#context.resume();
  }

  set sampleRateHz(value) { this.#sampleRateHz = value; }

  /** Seconds of the reply heard so far. */
  get playedS() {
    if (this.#startedAt === null) return 0;
    return Math.max(0, Math.min(this.#context.currentTime, this.#nextAt) - this.#startedAt);
  }

  /** Resolves when everything pushed so far has been heard. */
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
      this.#startedAt += now + LEAD_S - this.#nextAt; // silence is not speech heard
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

  /** Silence at once, also for what is still on its way, until `start`. */
  stop() {
    this.#stopped = true;
    this.#nextAt = Math.min(this.#nextAt, this.#context.currentTime);
    for (const source of this.#sources) source.stop();
  }
}
