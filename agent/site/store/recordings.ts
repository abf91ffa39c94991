import type { Sqlite } from '#base/sqlite.ts';

/** A console that is, or was, recorded. */
export interface Recording {
  recordingId: string;
  nodeId: string;
  /** Milliseconds since the epoch. */
  until: number;
  /** Who asked: the centre, or a user of this host. */
  askedBy: string;
  /** Characters that were kept. */
  kept: number;
  /** Whether its beginning was told. */
  begun: boolean;
}

/** The recordings of consoles, so that they go on after a restart and none begins twice. */
export interface Recordings {
  /** Those that have not ended. */
  open(): Recording[];
  /** Takes a wish in; one that is known has its end moved, unless it has ended. */
  wish(recording: Pick<Recording, 'recordingId' | 'nodeId' | 'until' | 'askedBy'>): void;
  begun(recordingId: string): void;
  kept(recordingId: string, characters: number): void;
  ended(recordingId: string): void;
  /** Forgets those that ended, and were to end before `before` (milliseconds). */
  prune(before: number): void;
}

interface Row {
  recording_id: string;
  node_id: string;
  until: number;
  asked_by: string;
  kept: number;
  begun: 0 | 1;
}

export function openRecordings(database: Sqlite): Recordings {
  const open = database.prepare<[], Row>(
    'SELECT * FROM console_recordings WHERE ended = 0 ORDER BY recording_id',
  );
  const wish = database.prepare(
    `INSERT INTO console_recordings (recording_id, node_id, until, asked_by)
     VALUES (@recordingId, @nodeId, @until, @askedBy)
     ON CONFLICT (recording_id) DO UPDATE SET until = excluded.until WHERE ended = 0 AND until <> excluded.until`,
  );
  const begun = database.prepare('UPDATE console_recordings SET begun = 1 WHERE recording_id = ?');
  const kept = database.prepare('UPDATE console_recordings SET kept = ? WHERE recording_id = ?');
  const ended = database.prepare('UPDATE console_recordings SET ended = 1 WHERE recording_id = ?');
  const prune = database.prepare('DELETE FROM console_recordings WHERE ended = 1 AND until < ?');
  return {
    open: () =>
      open.all().map((row) => ({
        recordingId: row.recording_id,
        nodeId: row.node_id,
        until: row.until,
        askedBy: row.asked_by,
        kept: row.kept,
        begun: row.begun === 1,
      })),
    wish: (recording) => void wish.run(recording),
    begun: (recordingId) => void begun.run(recordingId),
    kept: (recordingId, characters) => void kept.run(characters, recordingId),
    ended: (recordingId) => void ended.run(recordingId),
    prune: (before) => void prune.run(before),
  };
}
