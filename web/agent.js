// The agent's WebSocket: one conversation, many prompts. Events are those of the agent protocol;
// audio arrives as {type: "audio", data: ArrayBuffer}.

export class Agent extends EventTarget {
  #socket = null;
  #url;

  constructor(url) {
    super();
    this.#url = url;
  }

  get open() { return this.#socket?.readyState === WebSocket.OPEN; }

  /** Resolves when connected; rejects when there is no agent. */
  connect() {
    return new Promise((resolve, reject) => {
      const socket = new WebSocket(this.#url);
      socket.binaryType = "arraybuffer";
      socket.onopen = resolve;
      socket.onerror = () => reject(new Error(`no agent at ${this.#url}`));
      socket.onclose = () => this.#emit({ type: "closed" });
      socket.onmessage = ({ data }) => this.#emit(
        typeof data === "string" ? JSON.parse(data) : { type: "audio", data });
      this.#socket = socket;
    });
  }

  prompt(prompt) { this.#send({ type: "prompt", prompt }); }

  interrupt(playedS) { this.#send({ type: "interrupt", played_s: playedS }); }

  #send(message) { this.#socket.send(JSON.stringify(message)); }

  #emit(detail) { this.dispatchEvent(new CustomEvent("event", { detail })); }
}
