import { Agent } from "./agent.js";
import { PcmPlayer } from "./player.js";

const element = (id) => document.getElementById(id);
const [status, turns, reply, figures, stop, send] =
  ["status", "turns", "reply", "figures", "stop", "send"].map(element);

const { agent_ws_url: url, replies } = await (await fetch("config.json")).json();
if (replies) element("replies").textContent = replies;
const agent = new Agent(url);
const player = new PcmPlayer();
let asked = ""; // the last prompt
let askedAt = 0;
let firstAudioS = null;
let replying = false; // between agent_start and agent_end
let ending = "Done."; // the status to show after the reply

function say(text, isError = false) {
  status.textContent = text;
  status.classList.toggle("error", isError);
}

/** Move the last reply to the list of turns, and begin a new turn. */
function begin() {
  if (reply.textContent) turns.append(...reply.childNodes);
  const said = document.createElement("b");
  said.textContent = asked;
  reply.replaceChildren();
  turns.append(said);
  figures.textContent = "";
  replying = true;
}

function show(text) {
  const span = document.createElement("span");
  span.textContent = text;
  reply.append(span);
}

async function connect() {
  try {
    await agent.connect();
    say("Ready.");
  } catch (error) {
    say(`${error.message}. Check that it is running, then ask again.`, true);
  }
}

function finish() {
  send.disabled = false;
  stop.disabled = true;
}

async function end(metrics, unspoken) {
  replying = false;
  await player.drained();
  finish();
  if (ending) say(ending);
  figures.textContent = `First audio after ${firstAudioS?.toFixed(2) ?? "–"} s, ` +
    `${metrics.audio_s.toFixed(1)} s of speech, ${player.underruns} underruns, mode ${metrics.mode}.` +
    (unspoken.length ? ` Not spoken: ${unspoken.join(" ")}` : "");
  figures.title = "An underrun is a pause in the speech, because the next audio arrived late.";
}

const handlers = {
  agent_start: begin,
  text_delta: ({ text }) => show(text),
  audio_stream_start: ({ sample_rate: rate }) => { player.sampleRateHz = rate; },
  audio: ({ data }) => {
    if (firstAudioS === null) {
      firstAudioS = (performance.now() - askedAt) / 1000;
      say("Speaking…");
    }
    player.push(data);
  },
  interrupted: () => { ending = "Stopped."; },
  error: ({ message }) => {
    ending = null;
    say(message, true);
    if (!replying) finish(); // a refused prompt has no agent_end
  },
  agent_end: ({ metrics, unspoken }) => end(metrics, unspoken),
  closed: () => {
    replying = false;
    finish();
    say("The connection to the agent was closed. Ask again to reconnect.", true);
  },
};

agent.addEventListener("event", ({ detail }) => handlers[detail.type]?.(detail));

element("ask").addEventListener("submit", async (event) => {
  event.preventDefault();
  const prompt = element("prompt").value;
  if (!prompt.trim()) {
    say("The prompt is empty: type what you want to say.", true);
    return;
  }
  send.disabled = true;
  await player.start();
  if (!agent.open) await connect();
  if (!agent.open) { finish(); return; }
  firstAudioS = null;
  ending = "Done.";
  stop.disabled = false;
  say("Thinking…");
  askedAt = performance.now();
  asked = prompt;
  agent.prompt(prompt);
});

stop.addEventListener("click", () => {
  agent.interrupt(player.playedS);
  player.stop();
});

await connect();
