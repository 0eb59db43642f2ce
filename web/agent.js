// A client for the agent's WebSocket. A connection is one conversation with any number of prompts.
// Each event of the agent protocol is dispatched as an "event", with the message in `detail`. Audio
// arrives as {type: "audio", data: ArrayBuffer}; {type: "closed"} says that the connection ended.

export class Agent extends EventTarget {
  #socket = null;
  #url;

  constructor(url) {
    super();
    this.#url = url;
  }

  get open() { return this.#socket?.readyState === WebSocket.OPEN; }

  /** Connect to the agent. The promise is rejected if the connection fails. */
  connect() {
    return new Promise((resolve, reject) => {
      const socket = new WebSocket(this.#url);
      socket.binaryType = "arraybuffer";
      socket.onopen = () => {
        socket.onclose = () => this.#emit({ type: "closed" });
        resolve();
      };
      socket.onerror = () => reject(new Error(
        `cannot connect to the agent at ${this.#url}; check that it is running and that the address ends with /ws`));
      socket.onmessage = ({ data }) => this.#emit(
        typeof data === "string" ? JSON.parse(data) : { type: "audio", data });
      this.#socket = socket;
    });
  }

  /**
   * Ask the agent, which answers with the events of one reply.
   * @param {string} prompt what the user says
   * @param {object} options fields of the protocol's `prompt`, such as {voice: "am_michael", speed: 1.2}
   */
  prompt(prompt, options = {}) { this.#send({ ...options, type: "prompt", prompt }); }

  /** @param {number} playedS how many seconds of the reply the listener has heard */
  interrupt(playedS) { this.#send({ type: "interrupt", played_s: playedS }); }

  /** End the conversation. */
  close() { this.#socket?.close(); }

  #send(message) {
    if (!this.open) throw new Error("there is no connection to the agent; call connect() first");
    this.#socket.send(JSON.stringify(message));
  }

  #emit(detail) { this.dispatchEvent(new CustomEvent("event", { detail })); }
}
