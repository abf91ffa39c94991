import type { Credentials } from './authentication.ts';

/** The one account of a BMC; its password may be changed, and may have to be. */
export class Account implements Credentials {
  static readonly minLength = 8;
  static readonly maxLength = 20;
  readonly username: string;
  password: string;
  /** Nothing else is done before the password was changed (DSP0266, "Password management"). */
  changeRequired: boolean;
  /** Whether a change of it must name its entity tag, as Lenovo's must. */
  demandsTag = false;
  /** How often its password was changed: its entity tag. */
  changes = 0;

  constructor({ username, password }: Credentials, changeRequired = false) {
    this.username = username;
    this.password = password;
    this.changeRequired = changeRequired;
  }

  change(password: string): void {
    this.password = password;
    this.changeRequired = false;
    this.changes++;
  }
}
