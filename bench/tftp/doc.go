// Package tftp sets ingot's TFTP server beside pin/tftp, tftpd-hpa and
// dnsmasq: one file of 64 MiB over loopback, read by one and the same client
// in blocks of 1468 bytes.
package tftp
