import { elementsEnd } from './structuredData.ts';

/** What one syslog datagram says. What it says of its sender and time is left out: anybody can say it. */
export interface SyslogMessage {
  /** 0 emergency to 7 debug (RFC 5424 §6.2.1). */
  severity: number;
  /** The program, with its process where it says so: `main-menu[310]`. */
  program?: string;
  /** One line without control characters, at most `longestText` characters. */
  text: string;
}

/** Characters of a line that are kept. */
export const longestText = 1000;
/** Bytes of a datagram that are read: RFC 5424 §6.1 asks for 2048 at least. */
const longest = 8192;
/** `user.notice`, for what has no priority (RFC 3164 §4.3.3). */
const assumedPriority = 13;
const highestPriority = 191;

/** `<0>` to `<191>`, without leading zeros (RFC 5424 §6.2.1). */
const priority = /^<(0|[1-9]\d{0,2})>/;
/** `VERSION TIMESTAMP HOSTNAME APP-NAME PROCID MSGID ` (RFC 5424 §6.2). */
const header5424 = /^1 \S{1,64} \S{1,255} (\S{1,48}) (\S{1,128}) \S{1,32} /;
/** `Mmm dd hh:mm:ss ` (RFC 3164 §4.1.2), or the time as newer senders write it. */
const time3164 = /^(?:[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d|\d{4}-\d\d-\d\dT\S{8,24}) /;
/** `TAG[PID]: `. */
const tag = /^([^\s:[\]]{1,48}(?:\[[^\s\]]{1,32}\])?):(?: |$)/;

/**
 * Reads a syslog datagram of either form (RFC 5424, RFC 3164). Total: what has neither form is text, as both ask for. Installers leave
 * out parts: BusyBox's syslogd names no host.
 */
export function readSyslog(datagram: Buffer): SyslogMessage {
  const whole = datagram.subarray(0, longest).toString();
  const value = Number(priority.exec(whole)?.[1] ?? Number.POSITIVE_INFINITY);
  if (value > highestPriority) return message(assumedPriority, whole);
  const rest = whole.slice(whole.indexOf('>') + 1);
  return read5424(value, rest) ?? read3164(value, rest);
}

const grave = ['emergency', 'alert', 'critical', 'error', 'warning'];

/** As a line of a timeline: what is a warning or worse says so. */
export function installerLine({ severity, program, text }: SyslogMessage): string {
  const weight = grave[severity];
  return [weight && `${weight}:`, program && `${program}:`, text].filter(Boolean).join(' ');
}

function read5424(value: number, rest: string): SyslogMessage | undefined {
  const header = header5424.exec(rest);
  if (header === null) return undefined;
  const [all, app = '-', process = '-'] = header;
  const end = elementsEnd(rest, all.length);
  if (end === undefined) return undefined;
  const text = rest.slice(end).replace(/^ ?\ufeff?/, '');
  return message(value, text, programOf(app, process));
}

/** `-` is said of what there is not (RFC 5424 §6). */
function programOf(app: string, process: string): string | undefined {
  if (app === '-') return undefined;
  return process === '-' ? app : `${app}[${process}]`;
}

/** Without a time there is no header: the rest is the message (RFC 3164 §4.3.2). */
function read3164(value: number, rest: string): SyslogMessage {
  const time = time3164.exec(rest)?.[0] ?? '';
  const after = rest.slice(time.length);
  const afterHost = tag.test(after) || time === '' ? after : after.replace(/^\S{1,255} /, '');
  const found = tag.exec(afterHost);
  return message(value, afterHost.slice(found?.[0].length ?? 0), found?.[1]);
}

function message(value: number, text: string, program?: string): SyslogMessage {
  return {
    severity: value % 8,
    ...(program !== undefined && { program: harmless(program) }),
    text: harmless(text),
  };
}

/** A terminal obeys control characters, and what reverses its direction of writing. */
function harmless(text: string): string {
  const plain = text.replace(/[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]+/gu, ' ').trim();
  return plain.slice(0, longestText).toWellFormed();
}
