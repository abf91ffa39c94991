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
  return new SiteRecorder(parts);
}

class SiteRecorder implements Recorder {
  readonly #parts: RecorderParts;
  readonly #running = new Map<string, Running>();
  /** Those of which it was told that there are too many. */
  readonly #waiting = new Set<string>();
  readonly #timer: NodeJS.Timeout;
  #closed = false;

  constructor(parts: RecorderParts) {
    this.#parts = parts;
    this.#timer = setInterval(() => this.#look(), lookEveryMs);
    this.#timer.unref();
  }

  begin(node: SiteNode, until: number, askedBy: string): Recording {
    const { recordings } = this.#parts.state;
    const own = recordings.open().find((one) => one.nodeId === node.nodeId && one.askedBy !== centre);
    const recordingId = own?.recordingId ?? newId('rec');
    recordings.wish({ recordingId, nodeId: node.nodeId, until, askedBy: own?.askedBy ?? askedBy });
    this.#look();
    return recordings.open().find((one) => one.recordingId === recordingId) as Recording;
  }

  end(nodeId: string, why: string): void {
    const { recordings } = this.#parts.state;
    const open = recordings.open().filter((one) => one.nodeId === nodeId);
    if (open.length === 0) throw nothingRecorded(nodeId);
    for (const { recordingId } of open) {
      const run = this.#running.get(recordingId);
      if (run === undefined) recordings.ended(recordingId);
      else run.recorder.end(why);
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearInterval(this.#timer);
    const runs = [...this.#running.values()];
    for (const { recorder } of runs) recorder.halt();
    const limit = delay(leaveMs, undefined, { ref: false });
    await Promise.race([limit, Promise.all(runs.map(({ over }) => over))]);
  }

  /** Brings what runs to what is wanted. */
  #look(): void {
    if (this.#closed) return;
    const { state, log } = this.#parts;
    try {
      takeWishes(state);
      for (const recording of state.recordings.open()) this.#lookAt(recording);
    } catch (error) {
      log.error({ err: error }, 'the recordings of consoles could not be looked at');
    }
  }

  #lookAt(recording: Recording): void {
    const { state } = this.#parts;
    const { recordingId, nodeId } = recording;
    const node = state.spec.node(nodeId);
    const over = whyOver(recording, node);
    const run = this.#running.get(recordingId);
    if (over !== undefined) {
      if (run !== undefined) run.recorder.end(over);
      else if (node === undefined) state.recordings.ended(recordingId);
      else this.#finish(recordingId, node, over);
    } else if (node !== undefined) this.#goOn(recording, node, run);
  }

  #goOn(recording: Recording, node: SiteNode, run: Running | undefined): void {
    const bmc = JSON.stringify(node.bmc);
    if (run === undefined && this.#running.size < mostAtOnce) this.#start(recording, node);
    else if (run === undefined) this.#sayItWaits(recording, node);
    else if (run.bmc !== bmc) {
      run.bmc = bmc;
      run.recorder.rejoin();
    }
  }

  #start(recording: Recording, node: SiteNode): void {
    const { state, consoles, clock, log } = this.#parts;
    const { recordingId } = recording;
    const recorder = new ConsoleRecorder(recording, {
      nodeNow: () => state.spec.node(node.nodeId) ?? node,
      consoles,
      tell: (type, text) => this.#tell(type, text, recordingId, node),
      keep: (characters) => state.recordings.kept(recordingId, characters),
      ...(clock && { clock }),
    });
    const over = recorder.run().then(
      (why) => this.#finish(recordingId, node, why),
      (error: unknown) => {
        log.error({ err: error, recordingId }, 'a recording failed');
        this.#finish(recordingId, node, 'the agent could not go on with it');
      },
    );
    this.#running.set(recordingId, { recorder, over, bmc: JSON.stringify(node.bmc) });
    state.recordings.begun(recordingId);
    log.info({ recordingId, nodeId: node.nodeId, askedBy: recording.askedBy }, 'a console is recorded');
  }

  #sayItWaits({ recordingId }: Recording, node: SiteNode): void {
    if (this.#waiting.has(recordingId)) return;
    this.#waiting.add(recordingId);
    const text = `${mostAtOnce} consoles are recorded at this site already: it begins when one of them has ended`;
    this.#tell('console.broken', text, recordingId, node);
  }

  #finish(recordingId: string, node: SiteNode, why: string | undefined): void {
    const { state, log } = this.#parts;
    this.#running.delete(recordingId);
    this.#waiting.delete(recordingId);
    if (why === undefined) return;
    state.atomically(() => {
      state.recordings.ended(recordingId);
      this.#tell('console.ended', `the recording has ended: ${why}`, recordingId, node);
    });
    log.info({ recordingId, nodeId: node.nodeId, why }, 'a console is recorded no more');
  }

  #tell(type: ConsoleEventType, text: string, recordingId: string, { nodeId, macs }: SiteNode): void {
    const [mac] = macs;
    this.#parts.state.events.add({ type, nodeId, ...(mac !== undefined && { mac }), text, recordingId });
    this.#parts.onEvent();
  }
}

function nothingRecorded(nodeId: string): RailheadError {
  const message = `the console of ${nodeId} is not recorded at this site`;
  return new RailheadError('NOT_FOUND', message, { path: 'nodeId', reason: 'not-recorded' });
}
