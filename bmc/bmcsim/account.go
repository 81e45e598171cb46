package bmcsim

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// addAccount finds the account that may log in, or adds it.
func (b *BMC) addAccount() {
	b.auth.password, b.auth.mustChange = b.o.Auth.Password, b.o.Auth.MustChange
	list := b.node(key(b.where.accounts))
	members := linksOf(list.body["Members"])
	for _, m := range members {
		if n := b.node(key(m)); n != nil && text(n.body, "UserName") == b.o.Auth.User {
			b.where.account = n.path
			return
		}
	}
	b.where.account = b.where.accounts + "/" + freeName(members)
	b.set(b.where.account, map[string]any{
		"@odata.id": b.where.account, "@odata.type": "#ManagerAccount.v1_4_0.ManagerAccount", "Id": b.where.account[strings.LastIndex(b.where.account, "/")+1:],
		"Name": "User Account", "UserName": b.o.Auth.User, "Password": nil, "RoleId": "Administrator", "Enabled": true, "Locked": false,
	})
	b.edit(key(b.where.accounts), func(body map[string]any) {
		members = append(members, b.where.account)
		body["Members"], body["Members@odata.count"] = references(members), len(members)
	})
}

// freeName is one that no member has.
func freeName(members []string) string {
	name := "ingot"
	for n := 2; slices.ContainsFunc(members, func(m string) bool { return strings.HasSuffix(key(m), "/"+name) }); n++ {
		name = fmt.Sprintf("ingot%d", n)
	}
	return name
}

// patchAccount changes the password of the account that may log in, or nothing. Sessions
// stay open.
func (b *BMC) patchAccount(q *request) answer {
	for name := range q.body {
		if name != "Password" {
			return readOnlyProperty(name)
		}
	}
	v, given := q.body["Password"]
	if !given {
		return done()
	}
	password, ok := v.(string)
	if !ok {
		return badType("Password")
	}
	if n := len(password); n == 0 || n > b.o.Auth.MaxPassword {
		return refuse(http.StatusBadRequest, "PropertyValueFormatError", fmt.Sprintf("The value for the property Password has %d bytes, which the property does not take: 1 to %d.", n, b.o.Auth.MaxPassword), "Password")
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.auth.password, b.auth.mustChange = Password(password), false
	return done()
}
