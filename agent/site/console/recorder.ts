import { setTimeout as delay } from 'node:timers/promises';
import type { Clock } from '#base/clock.ts';
import type { Log } from '#base/log.ts';
import type { ConsoleEventType } from '#contract/consoleRecording.ts';
import { RailheadError } from '#contract/errors.ts';
import { newId } from '#contract/ids.ts';
import type { SiteNode } from '#contract/nodeSpec.ts';
import type { Recording } from '../store/recordings.ts';
import type { SiteState } from '../store/state.ts';
import type { Consoles } from './consoles.ts';
import { ConsoleRecorder } from './recording.ts';
import { centre, takeWishes, whyOver } from './wishes.ts';

export interface RecorderParts {
  state: Pick<SiteState, 'spec' | 'events' | 'recordings' | 'atomically'>;
  consoles: Pick<Consoles, 'join'>;
  onEvent(): void;
  log: Log;
  clock?: Clock;
}

/** Records the consoles that the centre or somebody at the site wants recorded. */
export interface Recorder {
  /** Begins a recording, or moves the end of the one that this host began before. `until`: milliseconds since the epoch. */
  begin(node: SiteNode, until: number, askedBy: string): Recording;
  /** Ends what is recorded of a node. @throws RailheadError NOT_FOUND when nothing is */
  end(nodeId: string, why: string): void;
  close(): Promise<void>;
}

interface Running {
  recorder: ConsoleRecorder;
  over: Promise<void>;
  /** The binding of the BMC whose console it has joined. */
  bmc: string;
}

const lookEveryMs = 500;
/** More consoles than that are not recorded at once: each is a session of its BMC, and by IPMI a process. */
const mostAtOnce = 100;

/** A BMC that does not answer does not hold up the agent's end. Milliseconds. */
const leaveMs = 4000;
/** Goes on with what was recorded when the agent stopped. A wish of the centre is in the desired state, so that it needs no workflow and no turn. */
export function startRecorder(parts: RecorderParts): Recorder {
  const { state, log } = parts;
  const running = new Map<string, Running>();
  /** Those of which it was told that there are too many. */
  const waiting = new Set<string>();
  let closed = false;

  function start(recording: Recording, node: SiteNode): void {
    const { recordingId } = recording;
    const recorder = new ConsoleRecorder(recording, {
      nodeNow: () => state.spec.node(node.nodeId) ?? node,
      consoles: parts.consoles,
      tell: (type, text) => tell(type, text, recordingId, node),
      keep: (characters) => state.recordings.kept(recordingId, characters),
      ...(parts.clock && { clock: parts.clock }),
    });
    const over = recorder.run().then(
      (why) => finish(recordingId, node, why),
      (error: unknown) => {
        log.error({ err: error, recordingId }, 'a recording failed');
        finish(recordingId, node, 'the agent could not go on with it');
      },
    );
    running.set(recordingId, { recorder, over, bmc: JSON.stringify(node.bmc) });
    state.recordings.begun(recordingId);
    log.info({ recordingId, nodeId: node.nodeId, askedBy: recording.askedBy }, 'a console is recorded');
  }

  function tell(type: ConsoleEventType, text: string, recordingId: string, { nodeId, macs }: SiteNode): void {
    const [mac] = macs;
    state.events.add({ type, nodeId, ...(mac !== undefined && { mac }), text, recordingId });
    parts.onEvent();
  }

  function finish(recordingId: string, node: SiteNode, why: string | undefined): void {
    running.delete(recordingId);
    waiting.delete(recordingId);
    if (why === undefined) return;
    state.atomically(() => {
      state.recordings.ended(recordingId);
      tell('console.ended', `the recording has ended: ${why}`, recordingId, node);
    });
    log.info({ recordingId, nodeId: node.nodeId, why }, 'a console is recorded no more');
  }

  function goOn(recording: Recording, node: SiteNode, run: Running | undefined): void {
    const bmc = JSON.stringify(node.bmc);
    if (run === undefined && running.size < mostAtOnce) start(recording, node);
    else if (run === undefined) sayItWaits(recording, node);
    else if (run.bmc !== bmc) {
      run.bmc = bmc;
      run.recorder.rejoin();
    }
  }

  function sayItWaits({ recordingId }: Recording, node: SiteNode): void {
    if (waiting.has(recordingId)) return;
    waiting.add(recordingId);
    const text = `${mostAtOnce} consoles are recorded at this site already: it begins when one of them has ended`;
    tell('console.broken', text, recordingId, node);
  }

  /** Brings what runs to what is wanted. */
  function look(): void {
    takeWishes(state);
    for (const recording of state.recordings.open()) {
      const { recordingId, nodeId } = recording;
      const node = state.spec.node(nodeId);
      const over = whyOver(recording, node);
      const run = running.get(recordingId);
      if (over !== undefined) {
        if (run !== undefined) run.recorder.end(over);
        else if (node === undefined) state.recordings.ended(recordingId);
        else finish(recordingId, node, over);
      } else if (node !== undefined) goOn(recording, node, run);
    }
  }

  const lookOrSay = () => {
    if (closed) return;
    try {
      look();
    } catch (error) {
      log.error({ err: error }, 'the recordings of consoles could not be looked at');
    }
  };
  const timer = setInterval(lookOrSay, lookEveryMs);
  timer.unref();
  return {
    begin: (node, until, askedBy) => {
      const own = state.recordings.open().find((one) => one.nodeId === node.nodeId && one.askedBy !== centre);
      const recordingId = own?.recordingId ?? newId('rec');
      state.recordings.wish({ recordingId, nodeId: node.nodeId, until, askedBy: own?.askedBy ?? askedBy });
      lookOrSay();
      return state.recordings.open().find((one) => one.recordingId === recordingId) as Recording;
    },
    end: (nodeId, why) => {
      const open = state.recordings.open().filter((one) => one.nodeId === nodeId);
      if (open.length === 0) throw nothingRecorded(nodeId);
      for (const { recordingId } of open) {
        const run = running.get(recordingId);
        if (run === undefined) state.recordings.ended(recordingId);
        else run.recorder.end(why);
      }
    },
    close: async () => {
      closed = true;
      clearInterval(timer);
      const runs = [...running.values()];
      for (const { recorder } of runs) recorder.halt();
      const limit = delay(leaveMs, undefined, { ref: false });
      await Promise.race([limit, Promise.all(runs.map(({ over }) => over))]);
    },
  };
}

function nothingRecorded(nodeId: string): RailheadError {
  const message = `the console of ${nodeId} is not recorded at this site`;
  return new RailheadError('NOT_FOUND', message, { path: 'nodeId', reason: 'not-recorded' });
}
