import fc from 'fast-check';
import { expect, test } from 'vitest';
import { sysctlRefusal } from '#contract/hostConfig/sysctls.ts';
import { checkProfile } from '#contract/profiles.ts';

const set = (name: string, value: unknown) =>
  checkProfile(
    { id: 'p', version: 1, target: 'metal', hostConfig: { sysctl: { [name]: value } } },
    'INVALID_INPUT',
  );

test.each([
  'kernel.core_pattern',
  'kernel/core_pattern',
  'kernel.modprobe',
  'kernel.hotplug',
  'kernel.poweroff_cmd',
  'kernel.usermodehelper.bset',
  'kernel/usermodehelper/inheritable',
  'fs.binfmt_misc.register',
  'fs.binfmt_misc.status',
])('%s runs programs as root: no value is taken', (name) => {
  for (const value of ['core', '|/bin/sh', '', 0, 1, true])
    expect(() => set(name, value)).toThrow(
      expect.objectContaining({
        code: 'INVALID_INPUT',
        message: expect.stringContaining(`${name} runs programs as root`),
        details: expect.objectContaining({ path: `hostConfig.sysctl.${name}` }),
      }),
    );
});

test.each<[string, unknown[], unknown[]]>([
  ['kernel.kptr_restrict', [0, '0', false, '0x0', '00', ' 0 '], [1, 2, '2', true]],
  ['kernel.dmesg_restrict', [0], [1]],
  ['kernel.randomize_va_space', [0, 1, '1'], [2]],
  ['kernel.unprivileged_bpf_disabled', [0, false], [1, 2]],
  ['net.core.bpf_jit_harden', [0], [1, 2]],
  ['kernel.yama.ptrace_scope', [0, -1], [1, 2, 3]],
  ['kernel.perf_event_paranoid', [-1, 0, 1, '-1'], [2, 3, 4]],
  ['kernel.apparmor_restrict_unprivileged_userns', [0], [1]],
  ['fs.protected_symlinks', [0], [1]],
  ['fs.protected_hardlinks', [0], [1]],
  ['fs.protected_fifos', [0], [1, 2]],
  ['fs.protected_regular', [0], [1, 2]],
  ['fs.suid_dumpable', [1, 2], [0]],
  ['vm.mmap_min_addr', [0, 4096], [65_536, '0x10000']],
  ['vm.unprivileged_userfaultfd', [1, true], [0]],
  ['dev.tty.ldisc_autoload', [1], [0]],
  ['dev.tty.legacy_tiocsti', [1], [0]],
  ['vm.mmap_rnd_bits', [0, 17], [18, 28, 32]],
  ['vm.mmap_rnd_compat_bits', [0, 7], [8, 16]],
  ['vm.legacy_va_layout', [1], [0]],
  ['kernel.perf_user_access', [1], [0]],
  ['net.ipv4.conf.all.rp_filter', [0], [1, 2]],
  ['net.ipv4.conf.all.accept_redirects', [1], [0]],
  ['net.ipv6.conf.eth0.accept_redirects', [1], [0]],
  ['net.ipv4.conf.all.route_localnet', [1], [0]],
  ['net.ipv4.conf.all.accept_source_route', [1], [0]],
  ['net/ipv6/conf/eth0.100/accept_source_route', [1], [0, -1]],
  ['net.ipv4.tcp_syncookies', [0], [1, 2]],
  ['net.ipv4.icmp_echo_ignore_broadcasts', [0], [1]],
])("%s lowers the host's defenses by %j, not by %j", (name, bad, good) => {
  for (const value of [...bad, '2 or so', '1e1', ''])
    expect(() => set(name, value), `${value}`).toThrow(
      expect.objectContaining({
        code: 'INVALID_INPUT',
        message: expect.stringContaining(`${name} lowers the host's defenses`),
      }),
    );
  for (const value of good) expect(set(name, value).hostConfig).toEqual({ sysctl: { [name]: value } });
});

test.each(['net.core.somaxconn', 'vm.swappiness', 'net.ipv4.conf.all.arp_ignore', 'kernel.panic'])(
  '%s may be set to any scalar',
  (name) => {
    for (const value of [0, 1, true, '1', '4096 87380 6291456'])
      expect(set(name, value).hostConfig).toEqual({ sysctl: { [name]: value } });
  },
);

test.each([
  'kernel..core_pattern',
  'kernel/./core_pattern',
  'x/../kernel/core_pattern',
  '-kernel.core_pattern',
  'net.ipv4.conf.*.rp_filter',
  '/kernel/core_pattern',
  'kernel.core_pattern ',
  'kernel',
])('the name %j could mean another key and is refused', (name) => {
  expect(() => set(name, 1)).toThrow(expect.objectContaining({ code: 'INVALID_INPUT' }));
});

test('a value of several lines is refused', () => {
  expect(() => set('net.core.somaxconn', '1\nkernel.modprobe = /tmp/x')).toThrow(
    expect.objectContaining({ code: 'INVALID_INPUT' }),
  );
});

test('no spelling of a number that C reads as 0 passes where 0 is refused', () => {
  const zeros = fc.oneof(
    fc.constantFrom('0', '-0', '00', '0x0', '0X00', '000'),
    fc
      .tuple(fc.constantFrom('', ' ', '\t'), fc.constantFrom('0', '00'), fc.constantFrom('', ' ', ' 1'))
      .map((parts) => parts.join('')),
  );
  fc.assert(
    fc.property(zeros, (text) => {
      expect(sysctlRefusal('kernel.kptr_restrict', text)).toBeDefined();
    }),
  );
});
