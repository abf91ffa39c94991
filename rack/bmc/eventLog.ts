export interface LogRecord {
  id: number;
  created: string;
  severity: 'OK' | 'Warning' | 'Critical';
  sensorType: string;
  message: string;
}

/** What a BMC writes down about its machine. It wraps when it is full, and counts from 1 again once it was cleared. */
export class EventLog {
  static readonly most = 1000;
  /** Set by tests: the BMC's clock, e.g. one that lost its battery. */
  now: () => number = Date.now;
  readonly #listeners = new Set<(record: LogRecord) => void>();
  #records: LogRecord[] = [];
  #lastId = 0;

  /** Oldest first. */
  get records(): readonly LogRecord[] {
    return this.#records;
  }

  write(
    message: string,
    { severity = 'OK', sensorType = 'System Event' }: Partial<Omit<LogRecord, 'id' | 'created'>> = {},
  ): LogRecord {
    const created = new Date(this.now()).toISOString().replace(/\.\d+Z$/, 'Z');
    const record = { id: ++this.#lastId, created, severity, sensorType, message };
    this.#records.push(record);
    if (this.#records.length > EventLog.most) this.#records.shift();
    for (const listener of this.#listeners) listener(record);
    return record;
  }

  clear(): void {
    this.#records = [];
    this.#lastId = 0;
  }

  onWrite(listener: (record: LogRecord) => void): void {
    this.#listeners.add(listener);
  }
}
