// Package stubs binds every operation to a handler that does nothing and answers
// with the zero value: for the OpenAPI documents, and for tests of what stands in
// front of handlers.
package stubs

import (
	"context"
	"net/http"

	"github.com/ingotmetal/ingot/cmd/api"
	"github.com/ingotmetal/ingot/cmd/internal/server/httpop"
)

func stub[I, O any](op api.Op[I, O]) httpop.Binding {
	return httpop.Handle(op, func(context.Context, *I) (O, error) {
		var out O
		return out, nil
	})
}

func raw[I any](op api.Raw[I]) httpop.Binding {
	return httpop.HandleRaw(op, func(context.Context, *I, http.ResponseWriter) error { return nil })
}

// All binds the whole table of package api.
func All() []httpop.Binding {
	return []httpop.Binding{
		stub(api.RegistrationRegister), stub(api.RegistrationStatusPoll), stub(api.RegistrationAcknowledge), stub(api.RegistrationRefresh),
		stub(api.RegistrationListing), stub(api.RegistrationShow), stub(api.RegistrationPlan), stub(api.RegistrationApprove),
		stub(api.RegistrationApproveSetup), stub(api.RegistrationDisable), stub(api.RegistrationFactoryReset), stub(api.RegistrationDelete),
		stub(api.RegistrationLabel), stub(api.RegistrationReservoir), stub(api.RegistrationRootPassword),
		stub(api.SetupAnnounce), stub(api.SetupApprovalsPoll), stub(api.SetupDrain), stub(api.SetupComplete), stub(api.SetupFailed),
		stub(api.BooterSnapshot), stub(api.BooterChanges), stub(api.BooterSightings), stub(api.BooterBoots),
		stub(api.BootListing), stub(api.BootShow), stub(api.BootEnroll), stub(api.BootDecommission), stub(api.BootReactivate),
		stub(api.BootPurge), stub(api.BootMode), stub(api.BootDiscovered), stub(api.PolicyShow), stub(api.PolicySet),
		stub(api.WindowList), stub(api.AutoApproveOpen), stub(api.AutoApproveClose), stub(api.EnrollWindowOpen), stub(api.EnrollWindowClose),
		stub(api.KeyListing), stub(api.KeyShow), stub(api.KeyMint), stub(api.KeyRevoke),
		stub(api.SessionOpen), stub(api.SessionShow), stub(api.SessionClose), stub(api.SessionListing),
		stub(api.OperatorListing), stub(api.OperatorShow), stub(api.OperatorAdd), stub(api.OperatorPassword), stub(api.OperatorTOTP),
		stub(api.OperatorDisable), stub(api.OperatorRemove),
		stub(api.NodeListing), stub(api.NodeShow), stub(api.NodeDelete), stub(api.NodeCordon), stub(api.NodeUncordon), stub(api.NodeMaintenance),
		stub(api.MetalEnroll), stub(api.MetalAbort), stub(api.MetalConfirm),
		stub(api.NodePower), stub(api.NodeCommands), stub(api.NodePowerState),
		stub(api.NodeOverride), stub(api.NodeOverrideSet), stub(api.NodeOverrideClear),
		stub(api.NodeMedia), stub(api.NodeMediaInsert), stub(api.NodeMediaEject), stub(api.NodeInspect), stub(api.NodeHealth),
		stub(api.EventListing), raw(api.EventFollow), stub(api.AuditHeadShow), raw(api.AuditRowsRead), raw(api.StoreBackup),
	}
}
