// Package redfish is the driver for BMCs that speak Redfish (DMTF DSP0266).
//
// A [Driver] logs in once for each session, by POST to the service's collection
// of sessions, and shares the token among all operations. A token that has
// expired is replaced once. A password that was refused is not tried again until
// the credentials' version changes: BMCs lock accounts after three tries.
//
// # Which machine
//
// A BMC may have several systems. Those that have the Reset action and are
// Physical or Virtual are hosts; a baseboard of accelerators has none and is not.
// A BMC with one host needs no selector; with more it does, and the error names
// them. What is found does not depend on the order in which the BMC lists its
// members.
//
// # What is sent
//
// A ResetType, boot target or field is sent only where the resource lists or
// shows it. Deviations of single BMCs are data, see [Quirks]. Nothing is sent
// again but for what was certainly not carried out: after a 401, a 412 or a
// refused set of fields.
//
// # What is read
//
// Power is read by a decoder of a few fields. Inventory, health, firmware,
// accounts and logs are decoded by the types of gofish; its client, with its
// login, its links and its order of systems, is not used.
package redfish
