package redfish_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/ingotmetal/ingot/bmc"
	"github.com/ingotmetal/ingot/bmc/bmcsim"
)

func jsonOf(t testing.TB, v any) string {
	t.Helper()
	raw, err := json.Marshal(v)
	must(t, err)
	return string(raw)
}

// sample is a body of a file of samples.
func sample(t testing.TB, file, key string) string {
	t.Helper()
	raw, err := os.ReadFile("testdata/" + file)
	must(t, err)
	var all map[string]json.RawMessage
	must(t, json.Unmarshal(raw, &all))
	if all[key] == nil {
		t.Fatalf("%s has no %s", file, key)
	}
	return string(all[key])
}

// TestErrorBodies: what an answer to a reset is taken for.
func TestErrorBodies(t *testing.T) {
	const sushy = "samples-sushy.json"
	id := func(id, text string) string {
		return `{"error":{"code":"Base.1.0.GeneralError","message":"see","@Message.ExtendedInfo":[{"MessageId":"` + id + `","Message":"` + text + `"}]}}`
	}
	for _, c := range []struct {
		name   string
		status int
		body   string
		want   bmc.Kind
		says   string
	}{
		{"sushy's error", 400, sample(t, sushy, "error.json"), bmc.Unsupports, "not in the list"},
		{"one message that is no list", 400, sample(t, sushy, "error_single_ext_info.json"), bmc.Protocol, "general error"},
		{"no session", 500, sample(t, sushy, "session_error.json"), bmc.Auth, "no valid session"},
		{"a parameter", 400, sample(t, sushy, "transfer_proto_required_error.json"), bmc.Protocol, "TransferProtocolType"},
		{"HTML", 403, "<html><h1>403</h1></html>", bmc.Forbidden, "Forbidden"},
		{"nothing", 403, " ", bmc.Forbidden, "Forbidden"},
		{"a password change", 403, id("PasswordChangeRequired", "Change your password"), bmc.PasswordChange, "Change"},
		{"a password change without id", 403, id("some code", "Change your password"), bmc.PasswordChange, "Change"},
		{"a licence", 403, id("iLO.2.14.LicenseKeyRequired", "A key is needed"), bmc.Licence, "key"},
		{"a licence in words", 403, id("IDRAC.2.1.RAC0720", "Unable to run because of license restrictions."), bmc.Licence, "license"},
		{"lockdown", 403, id("IDRAC.2.8.SYS000", "System Lockdown mode is enabled."), bmc.Forbidden, "Lockdown"},
		{"a privilege", 403, id("Base.1.8.InsufficientPrivilege", "no"), bmc.Forbidden, "no"},
		{"state, 400", 400, id("iLO.2.14.InvalidOperationForSystemState", "power"), bmc.Conflict, "power"},
		{"state, 409", 409, "", bmc.Conflict, ""},
		{"in use", 409, id("Base.1.8.ResourceInUse", "in transition"), bmc.Busy, "transition"},
		{"POST", 400, id("iLO.0.10.UnableToModifyDuringSystemPOST", "POST"), bmc.Busy, "POST"},
		{"starting", 500, id("IDRAC.2.8.SYS518", "starting"), bmc.Busy, "starting"},
		{"full", 503, id("IDRAC.2.8.RAC0218", "sessions"), bmc.Busy, "sessions"},
		{"gone", 404, id("Base.1.8.ResourceMissingAtURI", "x"), bmc.NotFound, "x"},
		{"method", 405, "", bmc.Unsupports, ""},
		{"value", 400, id("Base.1.8.ActionParameterValueNotInList", "Nmi"), bmc.Unsupports, "Nmi"},
		{"two documents", 400, id("Base.1.8.ActionNotSupported", "first") + id("Base.1.8.ResourceInUse", "second"), bmc.Unsupports, "first"},
		{"a success that is none", 200, id("Base.1.8.ActionNotSupported", "no"), bmc.Unsupports, "no"},
		{"a success", 200, id("Base.1.8.Success", "yes"), "", ""},
		{"a success with plain text", 200, "OK", "", ""},
		{"a long one", 500, id("x", strings.Repeat("long ", 5000)), bmc.Protocol, "long"},
		{"control characters", 500, id("x", `a\u001b[31mb\nc`), bmc.Protocol, "a"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t, ilo, rule("POST", "*ComputerSystem.Reset", bmcsim.Effect{Status: c.status, Answer: c.body + " "}))
			_, err := r.open().SendPower(t.Context(), bmc.SendOn)
			if c.want == "" {
				must(t, err)
				return
			}
			e := wantKind(t, err, c.want)
			if e.Sent != bmc.SentYes || !strings.Contains(e.Error(), c.says) || len(e.Error()) > 1024 || strings.ContainsAny(e.Error(), "\x1b\n") {
				t.Errorf("%q, sent %s", e.Error(), e.Sent)
			}
			if n := r.count("POST", "ComputerSystem.Reset"); n != 1 {
				t.Errorf("%d posts", n)
			}
		})
	}
}

func TestRetryAfter(t *testing.T) {
	for _, date := range []bool{false, true} {
		r := newRig(t, ilo, rule("GET", "*/Systems", bmcsim.Effect{Status: 503, RetryAfter: 40 * time.Second, RetryDate: date}))
		_, err := r.tryOpen()
		if e := wantKind(t, err, bmc.Busy); e.After < 35*time.Second || e.After > 40*time.Second {
			t.Errorf("%v", e)
		}
	}
}
