/** `/boot.ipxe` and `autoexec.ipxe` of the site 10.77.0.1. */
export const firstScript = `#!ipxe
echo railhead: site 10.77.0.1, iPXE \${version} \${platform} \${buildarch}
echo railhead: \${manufacturer} \${product}
echo railhead: serial \${serial}, UUID \${uuid}
set idx:int32 0
:own
iseq \${net\${idx}\${vlan-suffix}/dhcp-server} 10.77.0.1 && goto found ||
:own-next
inc idx
iseq \${idx} 16 || goto own
goto elsewhere
:found
ifopen net\${idx}\${vlan-suffix} ||
set boot-mac \${net\${idx}\${vlan-suffix}/mac}
set boot-ip \${net\${idx}\${vlan-suffix}/ip}
echo railhead: net\${idx}\${vlan-suffix} \${boot-mac} at \${boot-ip} asks for its script
set chain-tries:int32 0
:chain
chain --replace --autofree http://10.77.0.1:8080/ipxe?mac=\${boot-mac}&uuid=\${uuid}&serial=\${serial:uristring}&platform=\${platform}&buildarch=\${buildarch}&ip=\${boot-ip}&vlan=\${vlan-tag} && goto chain-done ||
inc chain-tries
iseq \${chain-tries} 15 && goto own-failed ||
echo railhead: trying again in \${chain-tries} s
sleep \${chain-tries}
goto chain
:chain-done
:own-failed
ifclose net\${idx}\${vlan-suffix} ||
:elsewhere
set idx:int32 0
:any
isset \${net\${idx}\${vlan-suffix}/ip} || goto any-next
iseq \${net\${idx}\${vlan-suffix}/dhcp-server} 10.77.0.1 && goto any-next ||
ifopen net\${idx}\${vlan-suffix} ||
set boot-mac \${net\${idx}\${vlan-suffix}/mac}
set boot-ip \${net\${idx}\${vlan-suffix}/ip}
echo railhead: net\${idx}\${vlan-suffix} \${boot-mac} at \${boot-ip} asks for its script
set chain-any-tries:int32 0
:chain-any
chain --replace --autofree http://10.77.0.1:8080/ipxe?mac=\${boot-mac}&uuid=\${uuid}&serial=\${serial:uristring}&platform=\${platform}&buildarch=\${buildarch}&ip=\${boot-ip}&vlan=\${vlan-tag} && goto chain-any-done ||
inc chain-any-tries
iseq \${chain-any-tries} 3 && goto any-failed ||
echo railhead: trying again in \${chain-any-tries} s
sleep \${chain-any-tries}
goto chain-any
:chain-any-done
:any-failed
ifclose net\${idx}\${vlan-suffix} ||
:any-next
inc idx
iseq \${idx} 16 || goto any
set idx:int32 0
:lease
isset \${net\${idx}\${vlan-suffix}/mac} || goto lease-next
echo railhead: net\${idx}\${vlan-suffix} \${net\${idx}\${vlan-suffix}/mac} asks for an address
set user-class railhead-ipxe
dhcp net\${idx}\${vlan-suffix} && set leased:int32 1 || set leased:int32 0
clear user-class
iseq \${leased} 1 || goto lease-failed
ifopen net\${idx}\${vlan-suffix} ||
set boot-mac \${net\${idx}\${vlan-suffix}/mac}
set boot-ip \${net\${idx}\${vlan-suffix}/ip}
echo railhead: net\${idx}\${vlan-suffix} \${boot-mac} at \${boot-ip} asks for its script
set chain-lease-tries:int32 0
:chain-lease
chain --replace --autofree http://10.77.0.1:8080/ipxe?mac=\${boot-mac}&uuid=\${uuid}&serial=\${serial:uristring}&platform=\${platform}&buildarch=\${buildarch}&ip=\${boot-ip}&vlan=\${vlan-tag} && goto chain-lease-done ||
inc chain-lease-tries
iseq \${chain-lease-tries} 3 && goto lease-failed ||
echo railhead: trying again in \${chain-lease-tries} s
sleep \${chain-lease-tries}
goto chain-lease
:chain-lease-done
:lease-failed
ifclose net\${idx}\${vlan-suffix} ||
:lease-next
inc idx
iseq \${idx} 16 || goto lease
echo railhead: no script, the firmware goes on
exit 1
`;

/** What a machine gets whose entry is for VLAN 42. */
export const vlanScriptOf42 = `#!ipxe
echo railhead: this machine boots on VLAN 42
set idx:int32 0
:trunk
iseq \${net\${idx}\${vlan-suffix}/mac} 52:54:00:77:00:41 && goto found ||
:trunk-next
inc idx
iseq \${idx} 16 || goto trunk
echo railhead: no interface has the address 52:54:00:77:00:41
goto failed
:found
vcreate --tag 42 net\${idx} || goto lacking
set net\${idx}-42/mtu 1496 ||
clear net\${idx}.dhcp/ip ||
set user-class railhead-ipxe
set dhcp-tries:int32 0
:dhcp
dhcp net\${idx}-42 && goto dhcp-done ||
inc dhcp-tries
iseq \${dhcp-tries} 15 && goto failed ||
echo railhead: trying again in \${dhcp-tries} s
sleep \${dhcp-tries}
goto dhcp
:dhcp-done
clear user-class
set vlan-tag:int32 42
set vlan-suffix:string -42
isset \${net\${idx}-42/224:string} && chain --replace --autofree \${net\${idx}-42/filename} ||
set chain-tries:int32 0
:chain
chain --replace --autofree http://10.77.0.1:8080/boot.ipxe && goto chain-done ||
inc chain-tries
iseq \${chain-tries} 15 && goto failed ||
echo railhead: trying again in \${chain-tries} s
sleep \${chain-tries}
goto chain
:chain-done
:lacking
echo railhead: iPXE \${version} knows no VLANs
:failed
clear user-class ||
echo railhead: nothing boots on VLAN 42, the firmware goes on
exit 1
`;

/** `bootScript6`. */
export const firstScript6 = `#!ipxe
set idx:int32 0
:look
isset \${net\${idx}.dhcpv6/ip6} && goto found ||
inc idx
iseq \${idx} 16 && goto any || goto look
:found
set boot-mac \${net\${idx}/mac}
set boot-ip \${net\${idx}.dhcpv6/ip6}
goto ask
:any
set boot-mac \${netX/mac}
set boot-ip \${netX/ip6}
:ask
echo railhead: \${boot-mac} at \${boot-ip} asks for its script over IPv6
set chain-tries:int32 0
:chain
chain --replace --autofree http://[fd77::1]:8080/ipxe?mac=\${boot-mac}&uuid=\${uuid}&serial=\${serial:uristring}&platform=\${platform}&buildarch=\${buildarch}&ip=\${boot-ip} && goto chain-done ||
inc chain-tries
iseq \${chain-tries} 15 && goto failed ||
echo railhead: trying again in \${chain-tries} s
sleep \${chain-tries}
goto chain
:chain-done
:failed
echo railhead: no script, the firmware goes on
exit 1
`;
