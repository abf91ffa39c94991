/** A sysctl that a profile may not set, or may set only to a value that is safe. */
interface Guarded {
  /** Of the name with dots. */
  name: RegExp;
  /** Whether a number lowers nothing; without it no value is let through. */
  isSafe?: (value: number) => boolean;
  why: string;
}

const runs = (why: string) => `runs programs as root: ${why}`;
const lowers = (why: string) => `lowers the host's defenses: ${why}`;
const not = (bad: number) => (value: number) => value !== bad;
const atLeast = (least: number) => (value: number) => value >= least;
const only = (good: number) => (value: number) => value === good;

/**
 * Sources: the kernel's Documentation/admin-guide/sysctl/{kernel,fs,vm,net}.rst and binfmt-misc.rst, core(5), proc_sys_kernel(5), and
 * Documentation/admin-guide/LSM/Yama.rst. What is listed with a bound is harmless on its safe side.
 */
const guarded: readonly Guarded[] = [
  {
    name: /^kernel\.core_pattern$/,
    why: runs('the kernel pipes the core of a process that crashed to the program that it names (core(5))'),
  },
  { name: /^kernel\.modprobe$/, why: runs('the kernel starts it whenever it wants a module') },
  { name: /^kernel\.hotplug$/, why: runs('the kernel starts it for every device that comes or goes') },
  { name: /^kernel\.poweroff_cmd$/, why: runs('the kernel starts it to power the machine off') },
  {
    name: /^kernel\.usermodehelper(\.|$)/,
    why: runs("it says which capabilities the kernel's own helper programs have"),
  },
  {
    name: /^fs\.binfmt_misc(\.|$)/,
    why: runs('it registers interpreters that are run in the place of other programs, also of setuid ones'),
  },
  {
    name: /^kernel\.kptr_restrict$/,
    isSafe: not(0),
    why: lowers('0 shows kernel addresses to every user'),
  },
  {
    name: /^kernel\.dmesg_restrict$/,
    isSafe: not(0),
    why: lowers('0 shows the kernel log to every user'),
  },
  {
    name: /^kernel\.randomize_va_space$/,
    isSafe: atLeast(2),
    why: lowers('below 2, addresses of processes can be foretold'),
  },
  {
    name: /^kernel\.unprivileged_bpf_disabled$/,
    isSafe: not(0),
    why: lowers('0 lets every user load BPF programs into the kernel'),
  },
  {
    name: /^net\.core\.bpf_jit_harden$/,
    isSafe: not(0),
    why: lowers('0 lets compiled BPF programs be used to place code in the kernel'),
  },
  {
    name: /^kernel\.yama\.ptrace_scope$/,
    isSafe: atLeast(1),
    why: lowers('0 lets a process read and change every other one of its user'),
  },
  {
    name: /^kernel\.perf_event_paranoid$/,
    isSafe: atLeast(2),
    why: lowers('below 2, every user may profile the kernel'),
  },
  {
    name: /^kernel\.apparmor_restrict_unprivileged_(userns|unconfined)$/,
    isSafe: not(0),
    why: lowers('0 opens user namespaces, and with them much of the kernel, to unconfined programs'),
  },
  {
    name: /^fs\.protected_(symlinks|hardlinks|fifos|regular)$/,
    isSafe: atLeast(1),
    why: lowers('0 lets a user lead programs of root to other files in /tmp'),
  },
  {
    name: /^fs\.suid_dumpable$/,
    isSafe: only(0),
    why: lowers('other than 0, the memory of setuid programs is written to core files'),
  },
  {
    name: /^vm\.mmap_min_addr$/,
    isSafe: atLeast(32_768),
    why: lowers('below 32768, a null pointer in the kernel can be made to run code'),
  },
  {
    name: /^vm\.unprivileged_userfaultfd$/,
    isSafe: only(0),
    why: lowers('1 lets every user stop the kernel in the middle of a copy'),
  },
  {
    name: /^dev\.tty\.ldisc_autoload$/,
    isSafe: only(0),
    why: lowers('1 lets every user load line disciplines, old kernel code that few need'),
  },
  {
    name: /^net\.ipv[46]\.conf\..+\.accept_source_route$/,
    isSafe: (value) => value <= 0,
    why: lowers('above 0, a sender chooses the way of its packets past firewalls'),
  },
  {
    name: /^dev\.tty\.legacy_tiocsti$/,
    isSafe: only(0),
    why: lowers('1 lets a program type into the terminal that it was started from'),
  },
  {
    name: /^vm\.mmap_rnd_bits$/,
    isSafe: atLeast(18),
    why: lowers('fewer bits make the addresses of processes easier to foretell'),
  },
  {
    name: /^vm\.mmap_rnd_compat_bits$/,
    isSafe: atLeast(8),
    why: lowers('fewer bits make the addresses of 32-bit processes easier to foretell'),
  },
  {
    name: /^vm\.legacy_va_layout$/,
    isSafe: only(0),
    why: lowers('1 lays processes out as of old, with less at random'),
  },
  {
    name: /^kernel\.perf_user_access$/,
    isSafe: only(0),
    why: lowers('1 lets every program read the counters of the processor, and by them what others do'),
  },
  {
    name: /^net\.ipv4\.conf\..+\.rp_filter$/,
    isSafe: (value) => value === 1 || value === 2,
    why: lowers('0 takes packets whose sender is forged'),
  },
  {
    name: /^net\.ipv[46]\.conf\..+\.accept_redirects$/,
    isSafe: only(0),
    why: lowers('1 lets others on the network lead its traffic elsewhere'),
  },
  {
    name: /^net\.ipv4\.conf\..+\.route_localnet$/,
    isSafe: only(0),
    why: lowers('1 opens what listens on 127.0.0.0/8 to the network'),
  },
  {
    name: /^net\.ipv4\.tcp_syncookies$/,
    isSafe: not(0),
    why: lowers('0 lets a flood of SYNs close the host off'),
  },
  {
    name: /^net\.ipv4\.icmp_echo_ignore_broadcasts$/,
    isSafe: not(0),
    why: lowers('0 makes the host answer to broadcasts, for others to amplify'),
  },
];

/** Why a sysctl may not be set to this value; undefined when it may. */
export function sysctlRefusal(name: string, value: unknown): string | undefined {
  // sysctl(8) takes either separator, and a slash for a dot within a name (`net/ipv4/conf/eth0.1`).
  const dotted = name.replaceAll('/', '.');
  const guard = guarded.find((each) => each.name.test(dotted));
  if (guard === undefined) return undefined;
  const number = asKernelReads(value);
  // What the kernel might read otherwise than we do is not let through.
  const isSafe = number !== undefined && guard.isSafe?.(number) === true;
  return isSafe ? undefined : guard.why;
}

/** The number that the kernel reads from a value: decimal, octal or hexadecimal, blanks around it. */
function asKernelReads(value: unknown): number | undefined {
  if (typeof value === 'boolean') return value ? 1 : 0;
  if (typeof value !== 'string' && typeof value !== 'number') return undefined;
  const text = String(value).trim();
  if (/^-?(0|[1-9]\d{0,9})$/.test(text)) return Number(text);
  if (/^0x[0-9a-f]{1,8}$/i.test(text)) return Number.parseInt(text, 16);
  if (/^0[0-7]{1,10}$/.test(text)) return Number.parseInt(text, 8);
  return undefined;
}
