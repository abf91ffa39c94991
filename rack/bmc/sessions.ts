import { randomBytes } from 'node:crypto';

export interface Session {
  id: string;
  token: string;
  username: string;
  /** ISO 8601. */
  createdAt: string;
}

/** Sessions of one BMC: few, and dropped after they have not been used for a while (DSP0266 section 13.3). */
export class Sessions {
  static readonly limit = 8;
  static readonly timeoutSeconds = 1800;
  readonly #sessions = new Map<string, Session & { usedAt: number }>();
  /** How many there were at a time, at most. */
  most = 0;
  #lastId = 0;

  /** A new session; undefined when all are taken. */
  open(username: string, now: number = Date.now()): Session | undefined {
    this.#dropStale(now);
    if (this.#sessions.size >= Sessions.limit) return undefined;
    const token = randomBytes(16).toString('hex');
    const session = { id: String(++this.#lastId), token, username, createdAt: new Date(now).toISOString() };
    this.#sessions.set(session.id, { ...session, usedAt: now });
    this.most = Math.max(this.most, this.#sessions.size);
    return session;
  }

  /** The session of a token; using it keeps it alive. */
  byToken(token: string, now: number = Date.now()): Session | undefined {
    this.#dropStale(now);
    const found = [...this.#sessions.values()].find((session) => session.token === token);
    if (found !== undefined) found.usedAt = now;
    return found;
  }

  byId(id: string): Session | undefined {
    return this.#sessions.get(id);
  }

  ids(): string[] {
    return [...this.#sessions.keys()];
  }

  /** Whether there was such a session to end. */
  close(id: string): boolean {
    return this.#sessions.delete(id);
  }

  #dropStale(now: number): void {
    for (const [id, { usedAt }] of this.#sessions) {
      if (now - usedAt > Sessions.timeoutSeconds * 1000) this.#sessions.delete(id);
    }
  }
}
