package redfish

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"github.com/ingotmetal/ingot/bmc"
)

// A meaning is what a message of a BMC says of a request.
type meaning struct {
	id     string // last part of the MessageId; registries differ in name and version
	kind   bmc.Kind
	after  time.Duration // of Busy
	do     string
	source string // who defines it, or where it was seen
}

// meanings are the messages that say more than their status does.
func meanings() []meaning {
	const base = "Base registry (DSP8011)"
	return []meaning{
		{"InsufficientPrivilege", bmc.Forbidden, 0, "give the account the privilege", base},
		{"InsufficientPrivilegeForProperty", bmc.Forbidden, 0, "give the account the privilege", base},
		{"AccessDenied", bmc.Forbidden, 0, "", base},
		{"NoValidSession", bmc.Auth, 0, "", base},
		{"ResourceAtUriUnauthorized", bmc.Auth, 0, "", base},
		{"UnauthorizedLoginAttempt", bmc.Auth, 0, "", "iLO registry"},
		{"PasswordChangeRequired", bmc.PasswordChange, 0, "change the password on the BMC, then give the new one", base},
		{"SessionLimitExceeded", bmc.Busy, 0, "end sessions that nobody uses", base},
		{"CreateLimitReachedForResource", bmc.Busy, 0, "end sessions that nobody uses", base},
		{"ServiceTemporarilyUnavailable", bmc.Busy, 0, "", base},
		{"ServiceShuttingDown", bmc.Busy, 0, "", base},
		{"ServiceInUnknownState", bmc.Busy, 0, "", base},
		{"ResourceInUse", bmc.Busy, 0, "", base},
		{"ResourceInStandby", bmc.Conflict, 0, "", base},
		{"ResourceMissingAtURI", bmc.NotFound, 0, "", base},
		{"ResourceNotFound", bmc.NotFound, 0, "", base},
		{"ActionNotSupported", bmc.Unsupports, 0, "", base},
		{"ActionParameterNotSupported", bmc.Unsupports, 0, "", base},
		{"ActionParameterUnknown", bmc.Unsupports, 0, "", base},
		{"ActionParameterValueNotInList", bmc.Unsupports, 0, "", base},
		{"PropertyNotWritable", bmc.Unsupports, 0, "", base},
		{"PropertyNotWriteable", bmc.Unsupports, 0, "", base + ", as services spell it"},
		{"PropertyUnknown", bmc.Unsupports, 0, "", base},
		{"PropertyValueNotInList", bmc.Unsupports, 0, "", base},
		{"InvalidOperationForSystemState", bmc.Conflict, 0, "", "iLO registry; goldyfruit/ansible-ilo#1"},
		{"UnableToModifyDuringSystemPOST", bmc.Busy, 30 * time.Second, "wait for the end of POST", "iLO registry"},
		{"LicenseKeyRequired", bmc.Licence, 0, "install the licence", "iLO registry"},
		{"OemLicenseNotPassed", bmc.Licence, 0, "install the licence", "SMC registry"},
		{"RAC0218", bmc.Busy, 0, "end sessions that nobody uses", "stmcginnis/gofish#75, bb-Ricardo/check_redfish#198"},
		{"SYS518", bmc.Busy, 30 * time.Second, "the BMC is starting", "ironcore-dev/metal-operator#170"},
		{"SYS403", bmc.NotFound, 0, "", "IDRAC registry; recorded on an R750"},
	}
}

// phrases are texts that mean something on a 403, where the message has no id of
// its own.
func phrases() []meaning {
	return []meaning{
		{"lockdown", bmc.Forbidden, 0, "turn the BMC's lockdown mode off", "libredfish's Lockdown"},
		{"licens", bmc.Licence, 0, "install the licence", "metal3-io/ironic-image#688"},
		{"licenc", bmc.Licence, 0, "install the licence", "metal3-io/ironic-image#688"},
		{"change your password", bmc.PasswordChange, 0, "change the password on the BMC, then give the new one", "libredfish's recorded 403"},
		{"password change", bmc.PasswordChange, 0, "change the password on the BMC, then give the new one", "libredfish's recorded 403"},
	}
}

// maxMessages bounds how many messages of a body are looked at.
const maxMessages = 16

// A message is one entry of ExtendedInfo.
type message struct {
	id, text string
	about    []string // properties and arguments that it names
}

// readMessages takes the messages of a body: of the error object, of the
// annotation on the top, each as a list or as a single object. Of several JSON
// documents the first is read (check_redfish#151). A body that is no JSON has
// none.
func readMessages(body []byte) []message {
	var d doc
	if json.NewDecoder(bytes.NewReader(body)).Decode(&d) != nil {
		return nil
	}
	fault := d.sub("error")
	var out []message
	for _, in := range []doc{fault, d} {
		list := in.docs("@Message.ExtendedInfo")
		if one := in.sub("@Message.ExtendedInfo"); one != nil {
			list = []doc{one}
		}
		for _, m := range list {
			if len(out) < maxMessages {
				out = append(out, message{id: m.str("MessageId"), text: m.str("Message"), about: append(m.strs("RelatedProperties"), m.strs("MessageArgs")...)})
			}
		}
	}
	if code, text := fault.str("code"), fault.str("message"); code != "" || text != "" {
		out = append(out, message{id: code, text: text})
	}
	return out
}

// meant finds what a message means.
func (m message) meant() (meaning, bool) {
	id := m.id[strings.LastIndexByte(m.id, '.')+1:]
	for _, one := range meanings() {
		if strings.EqualFold(one.id, id) {
			return one, true
		}
	}
	return meaning{}, false
}

// phrase finds a text that means something on a 403.
func (m message) phrase() (meaning, bool) {
	text := strings.ToLower(m.text)
	for _, one := range phrases() {
		if strings.Contains(text, one.id) {
			return one, true
		}
	}
	return meaning{}, false
}

// refine says of e, made from the status, what the messages know better.
func refine(e *bmc.Error, list []message) {
	for _, m := range list {
		is, ok := m.meant()
		if !ok && e.Status == http.StatusForbidden {
			is, ok = m.phrase()
		}
		if !ok {
			continue
		}
		e.Kind, e.Do = is.kind, is.do
		if e.After = max(e.After, is.after); is.kind != bmc.Busy {
			e.After = 0
		}
		return
	}
}

// detail is the text of the first message that has one, with its id.
func detail(list []message) string {
	for _, m := range list {
		if m.text != "" || m.id != "" {
			return strings.TrimSpace(m.text + " (" + m.id + ")")
		}
	}
	return ""
}
