/** A user name and its password. */
export interface Login {
  username: string;
  password: string;
}

/** A login that may be right in the place of another, and the name under which that is remembered. */
export interface NextLogin extends Login {
  id: string;
}

/** Which login was taken last; it outlives its `Logins`. */
export interface LoginMemory {
  login?: string;
}

/** Whom we may be to somebody: one user, or the same one with the password that it is being given. The likeliest comes first. */
export class Logins {
  readonly #next: NextLogin | undefined;
  readonly #memory: LoginMemory;
  #all: readonly Login[];
  /** Whether nobody knows yet which of several is right. */
  isOpen: boolean;

  constructor(login: Login, next: NextLogin | undefined, memory: LoginMemory) {
    this.#next = next;
    this.#memory = memory;
    const all = next === undefined ? [login] : [login, next];
    this.#all = next !== undefined && memory.login === next.id ? all.toReversed() : all;
    this.isOpen = next !== undefined;
  }

  get current(): Login {
    return this.#all[0] as Login;
  }

  get count(): number {
    return this.#all.length;
  }

  get passwords(): string[] {
    return this.#all.map(({ password }) => password);
  }

  /** This one was taken. Another client begins with it too. */
  accepted(login: Login): void {
    this.isOpen = false;
    const next = this.#next;
    const name = next !== undefined && isSameLogin(login, next) ? next.id : undefined;
    if (name === this.#memory.login) return;
    if (name === undefined) delete this.#memory.login;
    else this.#memory.login = name;
  }

  /** This one was refused: it is the last to be tried again. */
  turn(refused: Login): void {
    this.#all = [...this.#all.filter((one) => !isSameLogin(one, refused)), refused];
  }

  /** Adds one, to be tried last. */
  know(login: Login): void {
    if (!this.#all.some((one) => isSameLogin(one, login))) this.#all = [...this.#all, login];
  }

  /** Has this one tried before the others. */
  prefer(login: Login): void {
    this.#all = [login, ...this.#all.filter((one) => !isSameLogin(one, login))];
    this.isOpen = this.count > 1;
  }
}

export function isSameLogin(one: Login, other: Login): boolean {
  return one.username === other.username && one.password === other.password;
}

/** Which of the two a login is. */
export function whichLogin(
  login: Login,
  next: NextLogin | undefined,
): { works: 'current' } | { works: 'next'; secretId: string } {
  if (next === undefined || !isSameLogin(login, next)) return { works: 'current' };
  return { works: 'next', secretId: next.id };
}
