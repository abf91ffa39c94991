/**
 * How a ramdisk finds its site by DHCP when no command line told it: it sends `vendorClass` as option 60 and asks for
 * option `optionNumber` (private use, RFC 3942), whose value is the text `https://<address>:8443` of the machine
 * listener. The site answers it to this class only. Over IPv6 the class is a user class (option 15), and the URL comes as option 59.
 */
export const siteDiscovery = { vendorClass: 'railhead-ramdisk', optionNumber: 224 } as const;
