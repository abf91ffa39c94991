import type { MachineArchitecture } from '#base/architecture.ts';

/**
 * Kernel modules of the ramdisk, by what needs them. A name ending in `/` is a folder below `kernel/`, anything else a module's
 * name; what a module depends on comes along. To support more hardware add a row.
 */
export interface ModuleRow {
  why: string;
  names: readonly string[];
  /** Devices on this bus show up by themselves, later than the look through the buses: loaded wherever there is such a bus. */
  lateOn?: 'usb' | 'scsi' | 'mmc';
  /** The kernel of other architectures does not have it. */
  only?: MachineArchitecture;
}

const ethernet = (vendor: string): string => `drivers/net/ethernet/${vendor}/`;

const moduleRows: readonly ModuleRow[] = [
  { why: 'the root file system', names: ['loop', 'squashfs', 'overlay'] },
  {
    why: 'NICs of servers: Intel, Broadcom, Mellanox, Chelsio, QLogic, Emulex, Solarflare, Huawei, Pensando, Netronome',
    names: [
      ...['intel', 'broadcom', 'mellanox', 'chelsio', 'qlogic', 'emulex', 'sfc', 'huawei', 'pensando'].map(
        ethernet,
      ),
      ...['netronome', 'brocade', 'cavium', 'cisco', 'myricom', 'neterion'].map(ethernet),
    ],
  },
  {
    why: 'NICs of boards and of edge machines: Realtek, Aquantia, Marvell, AMD, Atheros, Synopsys and older ones',
    names: [...['realtek', 'aquantia', 'marvell', 'amd', 'atheros', 'stmicro', 'via'].map(ethernet), 'jme'],
  },
  {
    why: 'NICs and disks of virtual machines and clouds',
    names: [
      'virtio_net',
      'vmxnet3',
      'hv_netvsc',
      'xen-netfront',
      ...['amazon', 'google', 'microsoft'].map(ethernet),
    ],
  },
  {
    why: 'NICs that a BMC or a dock offers over USB',
    names: ['cdc_ether', 'cdc_ncm', 'r8152', 'ax88179_178a'],
    lateOn: 'usb',
  },
  { why: 'networks of sites', names: ['8021q', 'bonding', 'af_packet'] },
  {
    why: 'SATA and older ATA disks',
    names: ['ahci', 'ata_piix', 'ata_generic', 'sata_mv', 'sata_nv', 'sata_sil24', 'sata_svw', 'sata_via'],
  },
  { why: 'NVMe disks', names: ['nvme'] },
  {
    why: 'SAS and RAID controllers: Broadcom and Avago, HPE, Adaptec and Microchip, Areca, Marvell',
    names: ['megaraid_sas', 'mpt3sas', 'mptsas', 'mptspi', 'mpi3mr', 'hpsa', 'smartpqi', 'aacraid', 'mvsas'],
  },
  {
    why: 'SAS and RAID controllers, less common',
    names: ['3w-9xxx', '3w-sas', 'pm80xx', 'hptiop', 'mvumi', 'esas2r'],
  },
  {
    why: 'Fibre Channel and converged adapters',
    names: ['lpfc', 'qla2xxx', 'bfa', 'csiostor', 'qedf', 'qedi', 'bnx2i', 'bnx2fc'],
  },
  {
    why: 'disks of virtual machines',
    names: ['virtio_blk', 'virtio_scsi', 'virtio_mmio', 'hv_storvsc', 'xen-blkfront', 'sym53c8xx'],
  },
  { why: 'disks behind SAS and SATA', names: ['sd_mod', 'sg'], lateOn: 'scsi' },
  { why: 'disks and virtual media on USB', names: ['usb_storage', 'uas'], lateOn: 'usb' },
  { why: 'memory cards', names: ['mmc_block'], lateOn: 'mmc' },
  { why: 'CDs (virtual media)', names: ['sr_mod', 'cdrom', 'isofs'] },
  {
    why: 'USB and card controllers',
    names: ['xhci_pci', 'ehci_pci', 'ohci_pci', 'sdhci_pci', 'sdhci_acpi'],
  },
  { why: 'keyboard of a console', names: ['usbhid', 'hid_generic', 'atkbd'] },
  {
    why: 'file systems of deployed disks',
    names: ['vfat', 'nls_cp437', 'nls_ascii', 'nls_iso8859_1', 'nls_utf8', 'ext4', 'xfs', 'crc32c_generic'],
  },
  { why: 'EFI variables: the boot entry of the written disk', names: ['efivarfs'] },
  {
    why: 'software RAID, and LVM on disks that are taken over',
    names: [
      'raid0',
      'raid1',
      'raid10',
      'raid456',
      'dm_mod',
      'dm_mirror',
      'dm_snapshot',
      'dm_thin_pool',
      'dm_crypt',
    ],
  },
  { why: 'the BMC from within', names: ['ipmi_si', 'ipmi_devintf', 'ipmi_ssif', 'acpi_ipmi'] },
  {
    why: 'facts of the machine',
    names: ['ses', 'qemu_fw_cfg', 'virtio_rng', 'virtio_balloon'],
  },
  {
    why: 'what PCs alone have: chipsets, controllers, sensors',
    names: [
      ethernet('nvidia'),
      ...['vmd', 'arcmsr', 'isci', 'fnic', 'vmw_pvscsi', 'uhci_hcd', 'i8042', 'msr', 'coretemp', 'k10temp'],
    ],
    only: 'x86_64',
  },
  {
    why: 'NICs and disks of ARM servers and boards: HiSilicon, Applied Micro, NXP, Qualcomm, Socionext',
    names: [
      ...['hisilicon', 'apm', 'freescale', 'qualcomm', 'socionext'].map(ethernet),
      ...['hisi_sas_v2_hw', 'hisi_sas_v3_hw', 'ahci_platform', 'ahci_xgene'],
    ],
    only: 'aarch64',
  },
  {
    why: 'USB and card controllers of ARM boards',
    names: ['xhci_plat_hcd', 'ehci_platform', 'ohci_platform', 'dwc3', 'sdhci_of_arasan', 'sdhci_iproc'],
    only: 'aarch64',
  },
];

export function moduleRowsFor(architecture: MachineArchitecture): ModuleRow[] {
  return moduleRows.filter(({ only = architecture }) => only === architecture);
}
