import { setTimeout as delay } from 'node:timers/promises';
import type { Log } from '#base/log.ts';
import type { ConsoleSession, ConsoleWay } from '#console/session.ts';
import { RailheadError } from '#contract/errors.ts';
import type { SiteNode } from '#contract/nodeSpec.ts';
import { type BoundNode, boundNode, placeOf } from '../drivers/boundNode.ts';
import type { OpenConsole } from './open.ts';

/** Who reads a console. */
export interface Reader {
  output(bytes: Buffer): void;
  /** The session is over, and why. Told once. */
  ended(why: string): void;
  /** Somebody else types from now on. */
  unseated?(): void;
}

/** A reader's place at a console. */
export interface Seat {
  by: ConsoleWay;
  /** Has the keyboard, if nobody else has, or with `take` whoever has. */
  sitAtKeyboard(take: boolean): boolean;
  /** Types; without the keyboard nothing is sent. */
  type(keys: Buffer): void;
  /** The last to leave ends the session. */
  leave(): Promise<void>;
}

/** The consoles in use: one session with each BMC, which all readers share and one of them types to. */
export interface Consoles {
  /**
   * Joins a node's console, and opens it for the first who does.
   * @throws RailheadError INVALID_STATE for a node without a BMC, or what opening fails with
   */
  join(node: SiteNode, reader: Reader, options?: { takeOver?: boolean }): Promise<Seat>;
  close(): Promise<void>;
}

/** The end of an agent does not wait longer for BMCs that do not answer. Milliseconds. */
const closingMs = 5000;

interface Shared {
  session: Promise<ConsoleSession>;
  readers: Set<Reader>;
  typist?: Reader;
}

export function createConsoles(open: OpenConsole, log: Log): Consoles {
  const shared = new Map<string, Shared>();
  /** Sessions that are being ended: the BMC would refuse the next one. */
  const leaving = new Map<string, Promise<void>>();
  let closed = false;

  function openShared(node: BoundNode, place: string, takeOver: boolean): Shared {
    const readers = new Set<Reader>();
    const output = (bytes: Buffer) => {
      for (const reader of readers) reader.output(bytes);
    };
    const session = (leaving.get(place) ?? Promise.resolve()).then(() => open(node, { output, takeOver }));
    const entry: Shared = { session, readers };
    shared.set(place, entry);
    const forget = () => {
      if (shared.get(place) === entry) shared.delete(place);
    };
    session.then(async ({ by, ended }) => {
      log.info({ nodeId: node.nodeId, by }, 'a console was opened');
      const why = await ended;
      forget();
      log.info({ nodeId: node.nodeId, why }, 'a console has ended');
      for (const reader of [...readers]) reader.ended(why);
    }, forget);
    return entry;
  }

  function leave(place: string, entry: Shared, reader: Reader): Promise<void> {
    entry.readers.delete(reader);
    if (entry.typist === reader) delete entry.typist;
    if (entry.readers.size > 0 || shared.get(place) !== entry) return leaving.get(place) ?? Promise.resolve();
    shared.delete(place);
    const done = entry.session
      .then((session) => session.close())
      .catch((error: unknown) => log.debug({ err: error }, 'ending a console failed'))
      .finally(() => leaving.delete(place));
    leaving.set(place, done);
    return done;
  }

  return {
    join: async (node, reader, { takeOver = false } = {}) => {
      if (closed) throw new RailheadError('UNAVAILABLE', 'the agent is stopping: try again later');
      const bound = boundNode(node);
      const place = placeOf(bound);
      const entry = shared.get(place) ?? openShared(bound, place, takeOver);
      entry.readers.add(reader);
      try {
        return seatAt(await entry.session, entry, reader, () => leave(place, entry, reader));
      } catch (error) {
        entry.readers.delete(reader);
        throw error;
      }
    },
    close: async () => {
      closed = true;
      const open = [...shared.entries()];
      for (const [place, entry] of open) for (const reader of entry.readers) void leave(place, entry, reader);
      await Promise.race([Promise.all(leaving.values()), delay(closingMs, undefined, { ref: false })]);
    },
  };
}

function seatAt(session: ConsoleSession, entry: Shared, reader: Reader, leave: () => Promise<void>): Seat {
  return {
    by: session.by,
    sitAtKeyboard: (take) => {
      const { typist } = entry;
      if (typist !== undefined && typist !== reader) {
        if (!take) return false;
        typist.unseated?.();
      }
      entry.typist = reader;
      return true;
    },
    type: (keys) => {
      if (entry.typist === reader) session.write(keys);
    },
    leave,
  };
}
