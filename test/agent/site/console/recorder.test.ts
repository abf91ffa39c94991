import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { createConsoles } from '#agent/site/console/consoles.ts';
import { startRecorder } from '#agent/site/console/recorder.ts';
import { openState } from '#agent/site/store/state.ts';
import { silentLog } from '#base/log.ts';
import type { SiteEvent } from '#contract/agentWire.ts';
import type { ConsoleRecording } from '#contract/consoleRecording.ts';
import { RailheadError } from '#contract/errors.ts';
import type { SiteNode } from '#contract/nodeSpec.ts';
import { fakeSessions, node } from './fakeSession.ts';

const recordingId = 'rec_01k0000000000000000000000a';
const soon = (ms = 60_000) => new Date(Date.now() + ms).toISOString();

/** Waits for nothing between two tries. */
const clock = { now: Date.now, sleep: async () => {} };

/** The agent's recorder over a state directory, which another run may open again. */
async function startAgent(directory: string) {
  const state = await openState(directory);
  const fake = fakeSessions();
  const consoles = createConsoles(fake.open, silentLog());
  const recorder = startRecorder({ state, consoles, onEvent: () => {}, log: silentLog(), clock });
  let isOpen = true;
  const stop = async () => {
    if (!isOpen) return;
    isOpen = false;
    await recorder.close();
    await consoles.close();
    state.close();
  };
  onTestFinished(stop);
  let generation = state.spec.generation();
  const want = (recording: ConsoleRecording | undefined, more: Partial<SiteNode> = {}) => {
    const wanted = { ...node, ...more, ...(recording !== undefined && { recording }) };
    generation++;
    const site = { cacheImages: [], nodes: [wanted] };
    state.spec.replace({ nodeId: 'site_1', role: 'site', generation, site });
  };
  const events = () => state.events.untold(500).map((event) => event as SiteEvent & { text: string });
  const told = (type: string) =>
    events()
      .filter((event) => event.type === type)
      .map(({ text }) => text);
  const tells = (type: string, words: string, times = 1) =>
    expect
      .poll(() => told(type).filter((text) => text.includes(words)), { timeout: 8000 })
      .toHaveLength(times);
  return { ...fake, state, recorder, want, stop, events, told, tells };
}

async function newDirectory() {
  const directory = await mkdtemp(path.join(tmpdir(), 'railhead-recorder-'));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  return directory;
}

test('a wish of the centre is recorded until its time is up, and never again', async () => {
  const agent = await startAgent(await newDirectory());
  agent.want({ recordingId, until: soon(1200) });
  await agent.tells('console.joined', "the BMC's SSH");
  agent.sessions[0]?.output(Buffer.from('\x1b[1mUEFI\x1b[0m\r\nlogin: '));
  await agent.tells('console.ended', 'its time is up');
  expect(agent.told('console.started')).toEqual([expect.stringContaining('as the centre asked')]);
  expect(agent.told('console.output').join('\n')).toBe('UEFI\nlogin:');
  expect(agent.sessions.every(({ isClosed }) => isClosed)).toBe(true);
  expect(new Set(agent.events().map((event) => 'recordingId' in event && event.recordingId))).toEqual(
    new Set([recordingId]),
  );
  expect(agent.state.recordings.open()).toEqual([]);
});

test('it joins again after a break, which is told once as long as it is the same', async () => {
  const agent = await startAgent(await newDirectory());
  agent.want({ recordingId, until: soon() });
  await agent.tells('console.joined', 'open');
  agent.refuse(new RailheadError('DRIVER_ERROR', 'restarting', { reason: 'unreachable' }));
  agent.refuse(new RailheadError('DRIVER_ERROR', 'restarting', { reason: 'unreachable' }));
  agent.sessions[0]?.end('restarting');
  await agent.tells('console.joined', 'open', 2);
  expect(agent.told('console.broken')).toEqual(['no console, trying again: restarting']);
  agent.want(undefined);
  await agent.tells('console.ended', 'an operator has ended it');
});

test('it goes on after the agent was stopped, in the same recording, and never ends twice', async () => {
  const directory = await newDirectory();
  const first = await startAgent(directory);
  first.want({ recordingId, until: soon() });
  await first.tells('console.joined', 'open');
  first.sessions[0]?.output(Buffer.from('before\r\n'));
  await first.stop();
  const second = await startAgent(directory);
  await second.tells('console.joined', 'open', 2);
  second.sessions[0]?.output(Buffer.from('after\r\n'));
  await second.tells('console.output', 'after');
  expect(second.told('console.output')).toEqual(['before', 'after']);
  expect(second.told('console.started')[1]).toContain('goes on');
  second.recorder.end(node.nodeId, 'user 0 has ended it');
  await second.tells('console.ended', 'user 0');
  await second.stop();
  const third = await startAgent(directory);
  await new Promise((resolve) => setTimeout(resolve, 700));
  expect(third.sessions).toEqual([]);
  expect(third.told('console.ended')).toHaveLength(1);
});

test('refused credentials end it: a BMC would lock the account', async () => {
  const agent = await startAgent(await newDirectory());
  agent.refuse(new RailheadError('DRIVER_ERROR', 'refused', { reason: 'credentials-refused' }));
  agent.want({ recordingId, until: soon() });
  await agent.tells('console.ended', 'refused');
  expect(agent.sessions).toEqual([]);
});

test('somebody at the site has one recording of a node, whose end a second wish moves', async () => {
  const agent = await startAgent(await newDirectory());
  agent.want(undefined);
  const first = agent.recorder.begin(node, Date.now() + 60_000, 'user 0');
  const second = agent.recorder.begin(node, Date.now() + 90_000, 'user 1');
  expect(second.recordingId).toBe(first.recordingId);
  expect(second.until).toBeGreaterThan(first.until);
  await agent.tells('console.started', 'as user 0 asked');
  agent.recorder.end(node.nodeId, 'user 1 has ended it');
  await agent.tells('console.ended', 'user 1');
  expect(() => agent.recorder.end(node.nodeId, 'again')).toThrow('is not recorded');
});

test('a BMC that moves is joined where it is now, and one that keeps us waiting holds no recording up', async () => {
  const agent = await startAgent(await newDirectory());
  agent.want({ recordingId, until: soon() });
  await agent.tells('console.joined', 'open');
  const moved = { driver: 'redfish', address: 'https://192.0.2.2', credentialRef: 'secret://bmc' } as const;
  const goOn = agent.hang();
  agent.want({ recordingId, until: soon() }, { bmc: moved });
  await agent.tells('console.broken', 'another one');
  await expect.poll(() => agent.asked.at(-1)?.bmc).toEqual(moved);
  expect(agent.sessions[0]?.isClosed).toBe(true);
  agent.want(undefined, { bmc: moved });
  await agent.tells('console.ended', 'an operator has ended it');
  goOn();
  await expect.poll(() => agent.sessions.every(({ isClosed }) => isClosed)).toBe(true);
});
