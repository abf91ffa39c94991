const tilde = 0x7e;

/** Keys as ipmitool takes them: at the beginning of a line it takes `~` for its own commands, and `~~` for the key. */
export class SolKeys {
  #atLineStart = true;

  typed(keys: Buffer): Buffer {
    const sent: number[] = [];
    for (const key of keys) {
      if (key === tilde && this.#atLineStart) sent.push(tilde);
      sent.push(key);
      this.#atLineStart = key === 0x0d || key === 0x0a;
    }
    return Buffer.from(sent);
  }
}
