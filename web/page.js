import { Agent } from "./agent.js";
import { PcmPlayer } from "./player.js";

const element = (id) => document.getElementById(id);
const [status, reply, figures, stop, send] =
  ["status", "reply", "figures", "stop", "send"].map(element);

const { agent_ws_url: url, replies } = await (await fetch("config.json")).json();
if (replies) element("replies").textContent = `Replies: ${replies}`;
const agent = new Agent(url);
const player = new PcmPlayer();
let askedAt = 0;
let firstAudioS = null;
let replying = false; // between agent_start and agent_end
let ending = "Done."; // the status to show after the reply

function say(text, isError = false) {
  status.textContent = text;
  status.classList.toggle("error", isError);
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

async function end(metrics) {
  replying = false;
  await player.drained();
  finish();
  if (ending) say(ending);
  figures.textContent = `First audio after ${firstAudioS?.toFixed(2) ?? "–"} s, ` +
    `${metrics.audio_s.toFixed(1)} s of speech, ${player.underruns} underruns, mode ${metrics.mode}.`;
}

const handlers = {
  agent_start: () => { replying = true; },
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
  agent_end: ({ metrics }) => end(metrics),
  closed: () => {
    replying = false;
    finish();
    say("The connection to the agent was closed. Ask again to reconnect.", true);
  },
};

agent.addEventListener("event", ({ detail }) => handlers[detail.type]?.(detail));

element("ask").addEventListener("submit", async (event) => {
  event.preventDefault();
  send.disabled = true;
  await player.start();
  if (!agent.open) await connect();
  if (!agent.open) { finish(); return; }
  reply.replaceChildren();
  figures.textContent = "";
  firstAudioS = null;
  ending = "Done.";
  stop.disabled = false;
  say("Thinking…");
  askedAt = performance.now();
  agent.prompt(element("prompt").value);
});

stop.addEventListener("click", () => {
  agent.interrupt(player.playedS);
  player.stop();
});

await connect();
