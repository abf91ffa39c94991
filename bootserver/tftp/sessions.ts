/** What the table knows of a transfer. */
export interface TableEntry {
  /** The client's address. */
  readonly client: string;
  /** Whether the client has ever answered: before that it may be an address that somebody made up. */
  readonly isAnswered: boolean;
  close(): void;
}

/** Transfers at a time, of one client and in all. Beyond them a request is dropped: the client repeats it. */
const mostPerClient = 8;
const mostInAll = 1024;

/**
 * The transfers that run, by the client's address and port. When there are too many, in all or of one client, the oldest one that was never
 * answered makes room: a flood from made-up addresses pushes itself out, and not the machines that boot, though it speaks in the name of one.
 */
export class SessionTable<Entry extends TableEntry> {
  readonly #sessions = new Map<string, Entry>();
  readonly #unanswered = new Map<string, Entry>();
  readonly #ofClient = new Map<string, number>();

  get(peer: string): Entry | undefined {
    return this.#sessions.get(peer);
  }

  /** Whether one more transfer of `client` may begin; makes room for it where that takes another's place. */
  hasRoomFor(client: string): boolean {
    if ((this.#ofClient.get(client) ?? 0) >= mostPerClient) return this.#closeUnanswered(client);
    return this.#sessions.size < mostInAll || this.#closeUnanswered();
  }

  /** Ends the oldest transfer, of `client` alone if one is given, that nobody ever answered. */
  #closeUnanswered(client?: string): boolean {
    for (const [peer, entry] of this.#unanswered) {
      if (entry.isAnswered) this.#unanswered.delete(peer);
      else if (client === undefined || entry.client === client) {
        this.#unanswered.delete(peer);
        entry.close();
        return true;
      }
    }
    return false;
  }

  add(peer: string, entry: Entry): void {
    this.#sessions.set(peer, entry);
    this.#unanswered.set(peer, entry);
    this.#ofClient.set(entry.client, (this.#ofClient.get(entry.client) ?? 0) + 1);
  }

  /** To be called once when a transfer has ended, whoever ended it. */
  remove(peer: string): void {
    const entry = this.#sessions.get(peer);
    if (entry === undefined) return;
    this.#sessions.delete(peer);
    this.#unanswered.delete(peer);
    const left = (this.#ofClient.get(entry.client) ?? 1) - 1;
    if (left > 0) this.#ofClient.set(entry.client, left);
    else this.#ofClient.delete(entry.client);
  }

  closeAll(): void {
    for (const entry of [...this.#sessions.values()]) entry.close();
  }
}
