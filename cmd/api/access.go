package api

import "time"

// KeyView is an API key as facts; its secret is shown once, when it is minted.
type KeyView struct {
	ID       string    `json:"id"`
	Scope    string    `json:"scope" doc:"full, read_only, audit_only, agent, booter or ur_enroll"`
	Node     string    `json:"node_id,omitempty" doc:"that an agent's key is bound to"`
	Tenant   string    `json:"tenant,omitempty"`
	Created  time.Time `json:"created"`
	Consumed time.Time `json:"consumed,omitzero" doc:"first used or acknowledged"`
	Revoked  time.Time `json:"revoked,omitzero"`
}

// KeyRef names a key.
type KeyRef struct {
	Key string `path:"key_id" maxLength:"64" pattern:"^[a-z0-9_]+$" doc:"the key's ID, never its secret"`
}

// KeyList is the input of key.list.
type KeyList struct {
	Scope   string `query:"scope" maxLength:"64" pattern:"^[a-z_]+$" doc:"only keys of this scope"`
	Node    string `query:"node" maxLength:"57" pattern:"^node_[0-9a-hjkmnp-tv-z]{26,52}$" doc:"only keys bound to this node"`
	Revoked bool   `query:"revoked" doc:"dead keys as well"`
	Page
}

// Keys is a page of keys, in the order of their IDs.
type Keys struct {
	Keys []KeyView `json:"keys"`
	Next
}

// MintKey is the input of key.mint. Keys of scope agent come only from an
// approval (REG-14, SET-5).
type MintKey struct {
	Change
	Body struct {
		Scope   string `json:"scope" enum:"full,read_only,audit_only,booter,ur_enroll"`
		Tenant  string `json:"tenant,omitempty" maxLength:"128" pattern:"^[A-Za-z0-9._:-]+$" doc:"left out: the caller's own"`
		Comment string `json:"comment,omitempty" maxLength:"256" doc:"what it is for"`
	}
}

// KeyMinted is a new key with its secret.
type KeyMinted struct {
	Outcome
	Key    KeyView `json:"key"`
	Secret Secret  `json:"secret,omitempty" doc:"shown this once; absent in a dry run and when replayed"`
}

// RevokeKey is the input of key.revoke.
type RevokeKey struct {
	KeyRef
	Change
}

// KeyChanged is a key after a change.
type KeyChanged struct {
	Outcome
	Key KeyView `json:"key"`
}

// SessionView is an operator's session.
type SessionView struct {
	ID         string    `json:"id"`
	Operator   string    `json:"operator"`
	MFA        bool      `json:"mfa" doc:"a second factor was shown"`
	Started    time.Time `json:"started"`
	Ends       time.Time `json:"ends"`
	OpenedWith string    `json:"opened_with,omitempty" doc:"scope of the key it was opened with"`
	Current    bool      `json:"current,omitempty" doc:"it is the caller's"`
}

// OpenSession is the input of session.open (ID-8).
type OpenSession struct {
	Body struct {
		Operator string `json:"operator" minLength:"1" maxLength:"64" pattern:"^[a-z0-9][a-z0-9._@-]*$"`
		Password Secret `json:"password" format:"password" minLength:"1" maxLength:"1024"`
		Code     Secret `json:"totp_code,omitempty" format:"password" maxLength:"16" pattern:"^[0-9]+$" doc:"of the second factor, where one is enrolled"`
	}
}

// SessionOpened is a new session with its token.
type SessionOpened struct {
	Session SessionView `json:"session"`
	Token   Secret      `json:"token" doc:"shown this once"`
}

// Whoami is the answer to session.show: the caller's own session, or key.
type Whoami struct {
	Session *SessionView `json:"session,omitempty"`
	Key     *KeyView     `json:"key,omitempty"`
	Actions []string     `json:"actions" doc:"that it may do"`
}

// CloseSession is the input of session.close.
type CloseSession struct {
	Change
	Session string `query:"session" maxLength:"64" pattern:"^[a-z0-9_]+$" doc:"another session of the same operator; left out: the caller's own"`
}

// SessionClosed is what a close did.
type SessionClosed struct {
	Outcome
	Closed bool `json:"closed" doc:"false where it had ended already"`
}

// SessionList is the input of session.list.
type SessionList struct {
	Operator string `query:"operator" maxLength:"64" pattern:"^[a-z0-9][a-z0-9._@-]*$" doc:"only this operator's"`
	Page
}

// Sessions is a page of live sessions.
type Sessions struct {
	Sessions []SessionView `json:"sessions"`
	Next
}

// OperatorView is an operator identity.
type OperatorView struct {
	Name     string    `json:"name"`
	Created  time.Time `json:"created"`
	Disabled time.Time `json:"disabled,omitzero"`
	TOTP     bool      `json:"totp" doc:"a second factor is enrolled"`
	LastSeen time.Time `json:"last_seen,omitzero"`
	Version  uint64    `json:"version"`
}

// OperatorRef names an operator.
type OperatorRef struct {
	Operator string `path:"operator" maxLength:"64" pattern:"^[a-z0-9][a-z0-9._@-]*$" doc:"the operator's name"`
}

// OperatorChange is an input that names an operator and changes it.
type OperatorChange struct {
	OperatorRef
	Change
}

// OperatorList is the input of operator.list.
type OperatorList struct{ Page }

// Operators is a page of operators, in the order of their names.
type Operators struct {
	Operators []OperatorView `json:"operators"`
	Next
}

// AddOperator is the input of operator.add.
type AddOperator struct {
	Change
	Body struct {
		Name     string `json:"name" minLength:"1" maxLength:"64" pattern:"^[a-z0-9][a-z0-9._@-]*$"`
		Password Secret `json:"password" format:"password" minLength:"12" maxLength:"1024"`
	}
}

// SetOperatorPassword is the input of operator.password.
type SetOperatorPassword struct {
	OperatorChange
	Body struct {
		Password Secret `json:"password" format:"password" minLength:"12" maxLength:"1024"`
	}
}

// EnrolTOTP is the input of operator.totp: without a code it begins an enrolment,
// with one it confirms it. Until then signing in asks for no code of it.
type EnrolTOTP struct {
	OperatorChange
	Body struct {
		Code Secret `json:"code,omitempty" format:"password" maxLength:"16" pattern:"^[0-9]*$" doc:"the first code of the new second factor; left out: begin"`
		Drop bool   `json:"drop,omitempty" doc:"take the second factor away: the way back for who lost it"`
	}
}

// OperatorChanged is an operator after a change.
type OperatorChanged struct {
	Outcome
	Operator OperatorView `json:"operator"`
}

// TOTPEnrolled is a new second factor with its secret.
type TOTPEnrolled struct {
	Outcome
	Operator OperatorView `json:"operator"`
	URI      Secret       `json:"uri,omitempty" doc:"otpauth URI for an authenticator, shown this once; absent in a dry run and when replayed"`
}
