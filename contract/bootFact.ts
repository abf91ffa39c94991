/** What one line of a boot's timeline says, for programs: advice is given by these, never by the words beside them. */
export type BootFact =
  | { step: 'offer' | 'ack'; client: string; file?: string }
  | { step: 'nak'; client: string }
  /** By TFTP: how the transfer of a file of `sizeBytes` ended. */
  | {
      step: 'tftp';
      file: string;
      outcome: 'complete' | 'abandoned';
      bytes: number;
      blockSize: number;
      resentBlocks: number;
    }
  /** By TFTP: it asked for a file that is not here. */
  | { step: 'no-file'; file: string }
  /** By HTTP: the firmware or another iPXE fetches our boot program. */
  | { step: 'loader'; file: string }
  | { step: 'script'; boots: 'ramdisk' | 'iso' | 'disk' | 'vlan' }
  /** `linux` and `initrd` are parts of the ramdisk's image. */
  | { step: 'image'; part: 'linux' | 'initrd' | 'whole'; outcome: 'asked' | 'complete' | 'cut' | 'refused' }
  /** The ramdisk runs and asks for its boot token. */
  | { step: 'token' }
  /** TLS between ramdisk and site failed; `reason` is the code of Node's error. */
  | { step: 'tls-refused'; reason: string }
  | { step: 'join-refused'; reason: string }
  /** A line of an installer's log. `severity`: 0 emergency to 7 debug (RFC 5424 §6.2.1). */
  | { step: 'log'; severity: number };
