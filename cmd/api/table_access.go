package api

import "github.com/ingotmetal/ingot/identity/keys"

// Keys, sessions and operators.
var (
	KeyListing = Op[KeyList, Keys]{read("key.list", "/v1/keys", keys.KeysRead,
		"List API keys, never their secrets")}
	KeyShow = Op[KeyRef, KeyView]{read("key.show", "/v1/keys/{key_id}", keys.KeysRead,
		"Show an API key, never its secret")}
	KeyMint = Op[MintKey, KeyMinted]{write("key.mint", "/v1/keys", keys.KeysMint,
		"Make an API key; its secret is shown once")}
	KeyRevoke = Op[RevokeKey, KeyChanged]{destroy("key.revoke", "/v1/keys/{key_id}/revoke", keys.KeysRevoke,
		"End an API key for good")}

	SessionOpen = Op[OpenSession, SessionOpened]{write("session.open", "/v1/sessions", "",
		"Sign in as an operator", "UNAUTHENTICATED", "RATE_LIMITED").by(Anonymous)}
	SessionShow = Op[Empty, Whoami]{read("session.show", "/v1/session", "",
		"Show who the caller is and what it may do").by(Self)}
	SessionClose = Op[CloseSession, SessionClosed]{write("session.close", "/v1/session/close", "",
		"Sign out", "NOT_FOUND").by(Self)}
	SessionListing = Op[SessionList, Sessions]{read("session.list", "/v1/sessions", keys.OperatorsRead,
		"List live sessions")}

	OperatorListing = Op[OperatorList, Operators]{read("operator.list", "/v1/operators", keys.OperatorsRead,
		"List operators")}
	OperatorShow = Op[OperatorRef, OperatorView]{read("operator.show", "/v1/operators/{operator}", keys.OperatorsRead,
		"Show an operator")}
	OperatorAdd = Op[AddOperator, OperatorChanged]{write("operator.add", "/v1/operators", "",
		"Make an operator").by(Host)}
	OperatorPassword = Op[SetOperatorPassword, OperatorChanged]{write("operator.password", "/v1/operators/{operator}/password", "",
		"Set an operator's password").by(Host)}
	OperatorTOTP = Op[EnrolTOTP, TOTPEnrolled]{write("operator.totp", "/v1/operators/{operator}/totp", "",
		"Enrol a second factor: first to be shown its secret once, then with a code of it").by(Host)}
	OperatorDisable = Op[OperatorChange, OperatorChanged]{write("operator.disable", "/v1/operators/{operator}/disable", "",
		"Let an operator sign in no more, and end its sessions").by(Host)}
	OperatorRemove = Op[OperatorChange, Deleted]{destroy("operator.remove", "/v1/operators/{operator}", "",
		"Remove an operator").via("DELETE").by(Host)}
)

func accesses() []Any {
	return []Any{
		KeyListing, KeyShow, KeyMint, KeyRevoke,
		SessionOpen, SessionShow, SessionClose, SessionListing,
		OperatorListing, OperatorShow, OperatorAdd, OperatorPassword, OperatorTOTP, OperatorDisable, OperatorRemove,
	}
}
