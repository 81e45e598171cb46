// Package dhcp4 sets ingot's reading and writing of DHCPv4 beside
// insomniacslk/dhcp.
package dhcp4
