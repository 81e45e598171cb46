package lifecycle

// decide hands in to its own decision. It names every input, so that the step
// in progress stays on the stack: through the interface alone it would have
// to be allocated.
//
// An input that is missing here is refused by name, so that a new one cannot be
// forgotten in silence. Pointers are no inputs: the types are values.
func (w *work) decide(in Input) error {
	switch in := in.(type) {
	case Acknowledge:
		return in.apply(w)
	case Announce:
		return in.apply(w)
	case Approve:
		return in.apply(w)
	case ApproveSetup:
		return in.apply(w)
	case BeginAcceptance:
		return in.apply(w)
	case BootVerb:
		return in.apply(w)
	case CommandBegun:
		return in.apply(w)
	case CommandDone:
		return in.apply(w)
	case Condition:
		return in.apply(w)
	case Configure:
		return in.apply(w)
	case ConfirmMAC:
		return in.apply(w)
	case DeleteNode:
		return in.apply(w)
	case DeleteRow:
		return in.apply(w)
	case Disable:
		return in.apply(w)
	case Drain:
		return in.apply(w)
	case Drained:
		return in.apply(w)
	case EnrollMetal:
		return in.apply(w)
	case Escalate:
		return in.apply(w)
	case Expire:
		return in.apply(w)
	case FactoryReset:
		return in.apply(w)
	}
	return w.decideRest(in)
}

// decideRest is the second half of decide, in the order of the alphabet.
func (w *work) decideRest(in Input) error {
	switch in := in.(type) {
	case Inspected:
		return in.apply(w)
	case Join:
		return in.apply(w)
	case Judged:
		return in.apply(w)
	case Listed:
		return in.apply(w)
	case Maintain:
		return in.apply(w)
	case OffConfirmed:
		return in.apply(w)
	case PinBMC:
		return in.apply(w)
	case Power:
		return in.apply(w)
	case Propose:
		return in.apply(w)
	case Quarantine:
		return in.apply(w)
	case Refresh:
		return in.apply(w)
	case Register:
		return in.apply(w)
	case Renew:
		return in.apply(w)
	case Report:
		return in.apply(w)
	case RetireDevice:
		return in.apply(w)
	case RetireReport:
		return in.apply(w)
	case RevokeIdentity:
		return in.apply(w)
	case RunBegin:
		return in.apply(w)
	case RunCancel:
		return in.apply(w)
	case RunFound:
		return in.apply(w)
	case RunReport:
		return in.apply(w)
	case RunRequest:
		return in.apply(w)
	case RunWaits:
		return in.apply(w)
	case Schedule:
		return in.apply(w)
	case SessionClosed:
		return in.apply(w)
	case SessionOpened:
		return in.apply(w)
	case SetEntry:
		return in.apply(w)
	case SetPolicy:
		return in.apply(w)
	case SetWindow:
		return in.apply(w)
	case SetupReport:
		return in.apply(w)
	case Sighted:
		return in.apply(w)
	case Taint:
		return in.apply(w)
	case Verb:
		return in.apply(w)
	case WipeEvidence:
		return in.apply(w)
	}
	return invalid(w.name, "", "%s is no input of this package", in.Name())
}
