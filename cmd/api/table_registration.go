package api

import "github.com/ingotmetal/ingot/identity/keys"

// Registration: the agent's calls, then the operator's.
var (
	RegistrationRegister = Op[Register, Registered]{write("registration.register", "/v1/register", "",
		"A hand-installed machine's agent asks to be let in", "ACCESS_DENIED", "RATE_LIMITED").by(Anonymous).upTo(MaxSysinfoBody)}
	RegistrationStatusPoll = Op[RegistrationPoll, RegistrationStatus]{read("registration.status", "/v1/register/status", "",
		"The agent waits for its approval, and gets its key").by(PollToken).waits()}
	RegistrationAcknowledge = Op[Empty, RegistrationStatus]{write("registration.acknowledge", "/v1/register/acknowledge", "",
		"The agent has its key; the plaintext goes").by(PollToken)}
	RegistrationRefresh = Op[Refresh, Refreshed]{write("registration.refresh", "/v1/registrations/{server_id}/refresh", keys.AgentRefresh,
		"The agent shows its key and what the machine is").upTo(MaxSysinfoBody)}

	RegistrationListing = Op[RegistrationList, Registrations]{read("registration.list", "/v1/registrations", keys.RegistrationsRead,
		"List registration rows")}
	RegistrationShow = Op[RegistrationRef, Registration]{read("registration.show", "/v1/registrations/{server_id}", keys.RegistrationsRead,
		"Show a registration row")}
	RegistrationPlan = Op[PlanSetup, SetupPlan]{write("registration.plan", "/v1/registrations/{server_id}/plan", keys.RegistrationsRead,
		"Plan what approve-setup would write, and write nothing", "CONFLICT", "INVALID_STATE").pure()}
	RegistrationApprove = Op[Approve, RegistrationChanged]{write("registration.approve", "/v1/registrations/approve", keys.RegistrationsApprove,
		"Let the machine in whose claim code this is", "NOT_FOUND", "RATE_LIMITED")}
	RegistrationApproveSetup = Op[ApproveSetup, SetupApproved]{destroy("registration.approve-setup", "/v1/registrations/{server_id}/approve-setup", keys.CnSetupApprove,
		"Let a machine's disks be written by the plan that was shown", "UNSUPPORTED", "INVALID_CONFIG")}
	RegistrationDisable = Op[RegistrationChange, RegistrationChanged]{write("registration.disable", "/v1/registrations/{server_id}/disable", keys.RegistrationsDisable,
		"Shut a machine out: its keys, code and token die")}
	RegistrationFactoryReset = Op[RegistrationChange, RegistrationChanged]{destroy("registration.factory-reset", "/v1/registrations/{server_id}/factory-reset", keys.RegistrationsFactoryReset,
		"Send a machine back to the setup gate")}
	RegistrationDelete = Op[RegistrationChange, Deleted]{destroy("registration.delete", "/v1/registrations/{server_id}", keys.RegistrationsDelete,
		"Remove a registration row and what hangs on it").via("DELETE")}
	RegistrationLabel = Op[SetLabels, RegistrationChanged]{write("registration.label", "/v1/registrations/{server_id}/labels", keys.RegistrationsUpdate,
		"Set and remove labels")}
	RegistrationReservoir = Op[SetReservoir, RegistrationChanged]{write("registration.reservoir", "/v1/registrations/{server_id}/reservoir", keys.RegistrationsUpdate,
		"Keep memory back from placement")}
	RegistrationRootPassword = Op[SetRootPassword, RegistrationChanged]{write("registration.root-password", "/v1/registrations/{server_id}/root-password", keys.RegistrationsUpdate,
		"Set or clear the root password hash")}
)

func registrations() []Any {
	return []Any{
		RegistrationRegister, RegistrationStatusPoll, RegistrationAcknowledge, RegistrationRefresh,
		RegistrationListing, RegistrationShow, RegistrationPlan, RegistrationApprove, RegistrationApproveSetup,
		RegistrationDisable, RegistrationFactoryReset, RegistrationDelete,
		RegistrationLabel, RegistrationReservoir, RegistrationRootPassword,
	}
}
