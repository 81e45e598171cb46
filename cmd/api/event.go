package api

import (
	"encoding/json"
	"time"
)

// Event is a fact with its place in the log (EVENT-1).
type Event struct {
	Cursor  string          `json:"cursor" doc:"digits:digits"`
	Time    time.Time       `json:"time"`
	Actor   string          `json:"actor"`
	Type    string          `json:"type"`
	Subject string          `json:"subject,omitempty" doc:"a node's ID, or the key of what is no node's"`
	Body    json.RawMessage `json:"body,omitempty"`
}

// EventFilter is embedded by what reads events.
type EventFilter struct {
	Node   string `query:"node" maxLength:"57" pattern:"^node_[0-9a-hjkmnp-tv-z]{26,52}$" doc:"only this node's"`
	Type   string `query:"type" maxLength:"64" pattern:"^[a-z][a-z0-9._-]*$" doc:"only types that begin so"`
	Cursor string `query:"cursor" maxLength:"41" pattern:"^[0-9]{1,20}:[0-9]{1,20}$" doc:"only those after this one"`
}

// EventList is the input of event.list.
type EventList struct {
	EventFilter
	Limit int `query:"limit" minimum:"1" maximum:"200" doc:"the most to answer with, 1-200; default 100"`
}

// EventPage is events, oldest first.
type EventPage struct {
	Events []Event `json:"events"`
	Cursor string  `json:"cursor" doc:"to go on from, also where there was none"`
	More   bool    `json:"more,omitempty"`
}

// EventStream is the input of event.stream. A reader that was cut off goes on
// from the last event's ID.
type EventStream struct {
	EventFilter
	LastEventID string `header:"Last-Event-ID" maxLength:"41" pattern:"^[0-9]{1,20}:[0-9]{1,20}$" doc:"instead of cursor, as browsers send it"`
}

// AuditHead is the end of the audit chain (ID-6). Keep it where the store's
// keeper cannot write.
type AuditHead struct {
	Head     string `json:"head" doc:"revision and hash, as the verifier reads them"`
	Revision uint64 `json:"revision"`
}

// AuditRows is the input of audit.rows: rows from After on, not itself.
type AuditRows struct {
	After uint64 `query:"after" doc:"revision of the last row that is known"`
	Until uint64 `query:"until" doc:"the last revision wanted; left out: the head"`
}
