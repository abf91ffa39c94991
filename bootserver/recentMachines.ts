/** Machines remembered at least, twice as many at most. */
const capacity = { named: 16_384, strangers: 4096 };

/**
 * What is known of the machines that were heard of last, by MAC. A flood of made-up MACs drops the strangers that were heard of longest
 * ago, and no machine that the site has named.
 */
export class RecentMachines<Known> {
  readonly #isNamed: (mac: string) => boolean;
  readonly #named = new Recent<Known>(capacity.named);
  readonly #strangers = new Recent<Known>(capacity.strangers);

  constructor(isNamed: (mac: string) => boolean = () => false) {
    this.#isNamed = isNamed;
  }

  get(mac: string): Known | undefined {
    return this.#named.get(mac) ?? this.#strangers.get(mac);
  }

  /** Takes the place of what is known; the machine is the newest. */
  set(mac: string, known: Known): void {
    const [place, other] = this.#isNamed(mac)
      ? [this.#named, this.#strangers]
      : [this.#strangers, this.#named];
    other.delete(mac);
    place.set(mac, known);
  }

  delete(mac: string): void {
    this.#named.delete(mac);
    this.#strangers.delete(mac);
  }
}

/** The newest entries. The older ones go together: to drop the oldest one by one is slow in a flood. */
class Recent<Known> {
  readonly #capacity: number;
  #newer = new Map<string, Known>();
  #older = new Map<string, Known>();

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  get(key: string): Known | undefined {
    return this.#newer.get(key) ?? this.#older.get(key);
  }

  set(key: string, known: Known): void {
    this.#newer.set(key, known);
    if (this.#newer.size < this.#capacity) return;
    this.#older = this.#newer;
    this.#newer = new Map();
  }

  delete(key: string): void {
    this.#newer.delete(key);
    this.#older.delete(key);
  }
}
