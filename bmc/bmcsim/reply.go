package bmcsim

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// An answer is what a request gets, unless a rule spoils it.
type answer struct {
	status int
	header http.Header
	body   any    // of JSON; nil: none
	raw    []byte // instead of body
}

// bytes is the body as it is sent.
func (a answer) bytes() []byte {
	if a.raw != nil || a.body == nil {
		return a.raw
	}
	raw, err := json.Marshal(a.body)
	if err != nil {
		panic(fmt.Sprintf("bmcsim: a body that is no JSON: %v", err)) // bodies come from JSON
	}
	return raw
}

// with adds a header.
func (a answer) with(name, value string) answer {
	if a.header == nil {
		a.header = http.Header{}
	}
	a.header.Set(name, value)
	return a
}

// done is an answer without a body.
func done() answer { return answer{status: http.StatusNoContent} }

// registry is the registry of the messages.
const registry = "Base.1.13."

// refuse is a Redfish error: a message of the registry Base, or of another one where id
// has dots.
func refuse(status int, id, message string, args ...string) answer {
	if !strings.Contains(id, ".") {
		id = registry + id
	}
	return answer{status: status, body: map[string]any{"error": map[string]any{
		"code": id, "message": message, "@Message.ExtendedInfo": []any{info(id, message, args...)},
	}}}
}

// info is one message.
func info(id, message string, args ...string) map[string]any {
	list := make([]any, 0, len(args))
	for _, a := range args {
		list = append(list, a)
	}
	return map[string]any{
		"@odata.type": "#Message.v1_1_1.Message", "MessageId": id, "Message": message, "MessageArgs": list,
		"Severity": "Critical", "MessageSeverity": "Critical", "Resolution": "See the message.",
	}
}

func absent(path string) answer {
	return refuse(http.StatusNotFound, "ResourceMissingAtURI", fmt.Sprintf("The resource at the URI %s was not found.", path), path)
}

func missingParameter(action, name string) answer {
	return refuse(http.StatusBadRequest, "ActionParameterMissing", fmt.Sprintf("The action %s requires the parameter %s to be present in the request body.", action, name), action, name)
}

func badParameter(action, name, value string) answer {
	return refuse(http.StatusBadRequest, "ActionParameterValueNotInList", fmt.Sprintf("The value %s for the parameter %s in the action %s is not in the list of acceptable values.", value, name, action), value, name, action)
}

func unknownProperty(name string) answer {
	return refuse(http.StatusBadRequest, "PropertyUnknown", fmt.Sprintf("The property %s is not in the list of valid properties for the resource.", name), name)
}

func missingProperty(name string) answer {
	return refuse(http.StatusBadRequest, "PropertyMissing", fmt.Sprintf("The property %s is a required property and must be included in the request.", name), name)
}

func readOnlyProperty(name string) answer {
	return refuse(http.StatusBadRequest, "PropertyNotWritable", fmt.Sprintf("The property %s is a read only property and cannot be assigned a value.", name), name)
}

func badType(name string) answer {
	return refuse(http.StatusBadRequest, "PropertyValueTypeError", fmt.Sprintf("The value for the property %s is of a different type than the property can accept.", name), name)
}

func badValue(name, value string) answer {
	return refuse(http.StatusBadRequest, "PropertyValueNotInList", fmt.Sprintf("The value %s for the property %s is not in the list of acceptable values.", value, name), value, name)
}

// wrongState refuses an order that makes no sense in the state that is.
func wrongState(status int, state string) answer {
	return refuse(status, "InvalidOperationForSystemState", "The operation cannot be performed: the system is "+state+".", state)
}
