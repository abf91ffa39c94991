/** How a serial port is reached: by the BMC's SSH, or by IPMI's Serial over LAN. */
export type ConsoleWay = 'ssh' | 'sol';

/** One session with a machine's serial port, which is open until `ended`. */
export interface ConsoleSession {
  readonly by: ConsoleWay;
  /** Sends what an operator types, as it is. */
  write(keys: Buffer): void;
  /** Why it ended, in words. Never rejects. */
  readonly ended: Promise<string>;
  /** Leaves the serial port, so that the next session finds it free. */
  close(): Promise<void>;
}

/** Told what the machine prints, from the first byte of the session on. */
export type ConsoleOutput = (bytes: Buffer) => void;

/** How a BMC's SSH leads to the serial port of its machine. */
export interface SshConsole {
  port: number;
  /** What is typed at the BMC's command line, one after the other; empty where this port is the serial port itself. */
  commands: readonly string[];
  /** What is typed instead where the BMC refuses the commands. */
  otherwise?: readonly string[];
  /** What is typed before them to end the session that somebody else has. */
  free?: readonly string[];
  /** Typed at the end, by which the BMC's command line comes back and the serial port is free again. Operators' keys are kept from it. */
  leave?: string;
}

/** The ways that a BMC has to its machine's serial port. */
export interface SerialConsole {
  ssh?: SshConsole;
  sol?: { port: number };
}
