package keys

import (
	"crypto/hmac"
	"crypto/sha256"
)

// TicketsPerSetup is how many ticket keys one approval mints (SET-5).
const TicketsPerSetup = 3

// TicketMACSize is the size of a ticket's MAC in bytes (RFC 7518 section 3.2).
const TicketMACSize = sha256.Size

// A Ticket is a key that signs and checks tickets by HS256. Its ID goes into a
// ticket's kid header. The zero Ticket accepts nothing.
type Ticket struct {
	ID     string // Secret.ID
	Secret Secret // must be kept, since checking needs it: seal it at rest
}

// MintTickets makes a setup's ticket keys from entropy, which must come from a
// cryptographic source. The error is [*Invalid] where a part of it is zeros or
// two parts are the same, which no working source gives.
func MintTickets(entropy [TicketsPerSetup][SecretSize]byte) ([TicketsPerSetup]Ticket, error) {
	var tickets [TicketsPerSetup]Ticket
	seen := map[string]bool{}
	for i, e := range entropy {
		secret, err := NewSecret(TicketKey, e)
		if err != nil {
			return [TicketsPerSetup]Ticket{}, err
		}
		tickets[i] = Ticket{secret.ID(), secret}
		if seen[secret.ID()] {
			return [TicketsPerSetup]Ticket{}, &Invalid{What: "entropy", Why: "the same bytes twice"}
		}
		seen[secret.ID()] = true
	}
	return tickets, nil
}

// Sign returns the HS256 MAC of a ticket's signing input (RFC 7515 section 5.1).
// The key is the secret's 32 bytes, as long as the hash, which is HS256's least.
// The error is [*Invalid] where t holds no ticket key.
func (t Ticket) Sign(input []byte) ([TicketMACSize]byte, error) {
	if t.Secret.Kind() != TicketKey {
		return [TicketMACSize]byte{}, &Invalid{What: "ticket", Why: "holds no ticket key"}
	}
	key := t.Secret.reveal()
	mac := hmac.New(sha256.New, key[:])
	mac.Write(input)
	return [TicketMACSize]byte(mac.Sum(nil)), nil
}

// Verify reports, in constant time, whether mac is t's for input.
func (t Ticket) Verify(input, mac []byte) bool {
	want, err := t.Sign(input)
	return err == nil && hmac.Equal(want[:], mac)
}
