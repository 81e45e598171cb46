package server

import (
	"net/http"

	"github.com/ingotmetal/ingot/cmd/api"
	"github.com/ingotmetal/ingot/cmd/internal/server/httpop"
)

// Mount serves every operation of the table on mux.
func (s *Server) Mount(mux *http.ServeMux, version string) error {
	opts := httpop.Options{Authenticate: s.authenticate, Authorize: s.authorize, Log: s.Log, Now: s.Door.Now, Version: version}
	return httpop.Mount(mux, api.All(), opts, s.bindings()...)
}

// Handler is the whole API.
func (s *Server) Handler(version string) (http.Handler, error) {
	mux := http.NewServeMux()
	if err := s.Mount(mux, version); err != nil {
		return nil, err
	}
	mux.Handle("/", httpop.NotFound())
	return httpop.Plain(mux), nil
}

func (s *Server) bindings() []httpop.Binding {
	var all []httpop.Binding
	for _, part := range [][]httpop.Binding{s.registrations(), s.bootsAndSetups(), s.accesses(), s.metals(), s.rest()} {
		all = append(all, part...)
	}
	return all
}

func (s *Server) registrations() []httpop.Binding {
	return []httpop.Binding{
		httpop.Handle(api.RegistrationRegister, s.register), httpop.Handle(api.RegistrationStatusPoll, s.status),
		httpop.Handle(api.RegistrationAcknowledge, s.acknowledge), httpop.Handle(api.RegistrationRefresh, s.refresh),
		httpop.Handle(api.RegistrationListing, s.registrationList), httpop.Handle(api.RegistrationShow, s.registrationShow),
		httpop.Handle(api.RegistrationPlan, s.plan), httpop.Handle(api.RegistrationApprove, s.approve),
		httpop.Handle(api.RegistrationApproveSetup, s.approveSetup), httpop.Handle(api.RegistrationDisable, s.disable),
		httpop.Handle(api.RegistrationFactoryReset, s.factoryReset), httpop.Handle(api.RegistrationDelete, s.registrationDelete),
		httpop.Handle(api.RegistrationLabel, s.label), httpop.Handle(api.RegistrationReservoir, s.reservoir),
		httpop.Handle(api.RegistrationRootPassword, s.rootPassword),
	}
}

func (s *Server) bootsAndSetups() []httpop.Binding {
	return []httpop.Binding{
		httpop.Handle(api.SetupAnnounce, s.announce), httpop.Handle(api.SetupApprovalsPoll, s.approvals), httpop.Handle(api.SetupDrain, s.drain),
		httpop.Handle(api.SetupComplete, s.setupComplete), httpop.Handle(api.SetupFailed, s.setupFailed),
		httpop.Handle(api.BooterSnapshot, s.snapshot), httpop.Handle(api.BooterChanges, s.bootChanges),
		httpop.Handle(api.BooterSightings, s.sightings), httpop.Handle(api.BooterBoots, s.boots),
		httpop.Handle(api.BootListing, s.bootList), httpop.Handle(api.BootShow, s.bootShow), httpop.Handle(api.BootEnroll, s.bootEnroll),
		httpop.Handle(api.BootDecommission, s.bootDecommission), httpop.Handle(api.BootReactivate, s.bootReactivate),
		httpop.Handle(api.BootPurge, s.bootPurge), httpop.Handle(api.BootMode, s.bootMode), httpop.Handle(api.BootDiscovered, s.discovered),
		httpop.Handle(api.PolicyShow, s.policyShow), httpop.Handle(api.PolicySet, s.policySet), httpop.Handle(api.WindowList, s.windows),
		httpop.Handle(api.AutoApproveOpen, s.autoApproveOpen), httpop.Handle(api.AutoApproveClose, s.autoApproveClose),
		httpop.Handle(api.EnrollWindowOpen, s.enrollOpen), httpop.Handle(api.EnrollWindowClose, s.enrollClose),
	}
}

func (s *Server) accesses() []httpop.Binding {
	return []httpop.Binding{
		httpop.Handle(api.KeyListing, s.keyList), httpop.Handle(api.KeyShow, s.keyShow), httpop.Handle(api.KeyMint, s.keyMint), httpop.Handle(api.KeyRevoke, s.keyRevoke),
		httpop.Handle(api.SessionOpen, s.sessionOpen), httpop.Handle(api.SessionShow, s.whoami), httpop.Handle(api.SessionClose, s.sessionClose), httpop.Handle(api.SessionListing, s.sessionList),
		httpop.Handle(api.OperatorListing, s.operatorList), httpop.Handle(api.OperatorShow, s.operatorShow), httpop.Handle(api.OperatorAdd, s.operatorAdd),
		httpop.Handle(api.OperatorPassword, s.operatorPassword), httpop.Handle(api.OperatorTOTP, s.operatorTOTP),
		httpop.Handle(api.OperatorDisable, s.operatorDisable), httpop.Handle(api.OperatorRemove, s.operatorRemove),
	}
}

func (s *Server) metals() []httpop.Binding {
	return []httpop.Binding{
		httpop.Handle(api.MetalEnroll, s.metalEnroll), httpop.Handle(api.MetalAbort, s.metalAbort), httpop.Handle(api.MetalConfirm, s.confirmMAC),
		httpop.Handle(api.NodePower, s.power), httpop.Handle(api.NodeCommands, s.commands), httpop.Handle(api.NodePowerState, s.powerState),
		httpop.Handle(api.NodeOverride, s.bootOverride), httpop.Handle(api.NodeOverrideSet, s.bootSet), httpop.Handle(api.NodeOverrideClear, s.bootClear),
		httpop.Handle(api.NodeMedia, s.media), httpop.Handle(api.NodeMediaInsert, s.mediaInsert), httpop.Handle(api.NodeMediaEject, s.mediaEject),
		httpop.Handle(api.NodeInspect, s.inspect), httpop.Handle(api.NodeHealth, s.health),
	}
}

func (s *Server) rest() []httpop.Binding {
	return []httpop.Binding{
		httpop.Handle(api.NodeListing, s.nodeList), httpop.Handle(api.NodeShow, s.nodeShow), httpop.Handle(api.NodeDelete, s.nodeDelete),
		httpop.Handle(api.NodeCordon, s.cordon), httpop.Handle(api.NodeUncordon, s.uncordon), httpop.Handle(api.NodeMaintenance, s.maintenance),
		httpop.Handle(api.EventListing, s.eventList), httpop.HandleRaw(api.EventFollow, s.eventStream),
		httpop.Handle(api.AuditHeadShow, s.auditHead), httpop.HandleRaw(api.AuditRowsRead, s.auditRows),
		httpop.HandleRaw(api.StoreBackup, s.backup),
	}
}
