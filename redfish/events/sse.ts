/** One event of a stream of server-sent events. */
export interface StreamedEvent {
  type: string;
  data: string;
}

/** More than an event of a BMC is long, in characters; what is longer is passed over, whether it ends or not (NVIDIA/nv-redfish PR 167). */
export const longestEvent = 256 * 1024;
/** Of an id that is sent back in a header. */
const longestId = 256;

/** Reads a stream of server-sent events (WHATWG HTML §9.2.6) piece by piece. Total: whatever comes, it goes on with the next event. */
export class SseReader {
  /** Of the last event that had one, whether it was whole or not: what `Last-Event-ID` asks to go on from. */
  lastEventId: string | undefined;
  #rest = '';
  #isFirst = true;
  #endsWithReturn = false;
  /** The line that is being read is too long. */
  #skipsLine = false;
  #type = '';
  #data: string[] = [];
  #length = 0;

  /** The events that `text` completes. */
  feed(text: string): StreamedEvent[] {
    const events: StreamedEvent[] = [];
    // A line may end in CR, LF or both, and the piece between the two.
    const rest = this.#endsWithReturn && text.startsWith('\n') ? text.slice(1) : text;
    if (text !== '') this.#endsWithReturn = text.endsWith('\r');
    const lines = rest.split(/\r\n|\r|\n/);
    const last = lines.pop() ?? '';
    for (const line of lines) this.#line(this.#rest + line, events);
    this.#rest += last;
    if (this.#rest.length > longestEvent) {
      this.#rest = '';
      this.#skipsLine = true;
    }
    return events;
  }

  #line(whole: string, events: StreamedEvent[]): void {
    const line = this.#isFirst ? whole.replace(/^\uFEFF/, '') : whole;
    this.#isFirst = false;
    this.#rest = '';
    if (this.#skipsLine) {
      this.#skipsLine = false;
      this.#length = Number.POSITIVE_INFINITY;
      return;
    }
    if (line === '') this.#dispatch(events);
    else this.#field(line);
  }

  #field(line: string): void {
    const colon = line.indexOf(':');
    if (colon === 0) return;
    const name = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '');
    if (name === 'event') this.#type = value.slice(0, longestId);
    if (name === 'id' && /^[\x20-\x7e]*$/.test(value)) this.lastEventId = value.slice(0, longestId);
    if (name !== 'data') return;
    // Each line costs something, an empty one too.
    this.#length += value.length + (this.#data.length > 0 ? 1 : 0);
    if (this.#length <= longestEvent) this.#data.push(value);
  }

  #dispatch(events: StreamedEvent[]): void {
    if (this.#data.length > 0 && this.#length <= longestEvent)
      events.push({ type: this.#type || 'message', data: this.#data.join('\n') });
    this.#type = '';
    this.#data = [];
    this.#length = 0;
  }
}
