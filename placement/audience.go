package placement

// Audience is a set of tenants of a simple shape: nobody (the zero value), one
// tenant, everyone, or everyone but one.
type Audience struct {
	Everyone bool
	Tenant   Tenant // without Everyone: the only one; with Everyone: the one left out, if any
}

// Includes reports whether t is in the audience. The empty tenant, no tenant
// in particular, is where Everyone is set.
func (a Audience) Includes(t Tenant) bool {
	if a.Everyone {
		return a.Tenant == "" || t != a.Tenant
	}
	return t != "" && t == a.Tenant
}

// Empty reports whether nobody is in the audience.
func (a Audience) Empty() bool { return a == Audience{} }

// String is "nobody", "everyone", "everyone but acme" or "acme".
func (a Audience) String() string {
	switch {
	case a.Empty():
		return "nobody"
	case !a.Everyone:
		return string(a.Tenant)
	case a.Tenant == "":
		return "everyone"
	}
	return "everyone but " + string(a.Tenant)
}

// Admits is whom [Judge] lets through n under p.
func Admits(n Node, p Policy) Audience {
	if Judge(n, "", p).Placeable() {
		return Audience{Everyone: true}
	}
	if Judge(n, n.Tenant, p).Placeable() {
		return Audience{Tenant: n.Tenant}
	}
	return Audience{}
}

// Opened reports whether a change of a node from before to after made it
// placeable for t under p: the edge that wakes t's pending requests (PLACE-3).
func Opened(before, after Node, t Tenant, p Policy) bool {
	return !Judge(before, t, p).Placeable() && Judge(after, t, p).Placeable()
}

// Edge returns exactly the tenants for whom a change [Opened] the node. Each
// pending request of theirs that fits the node is woken once, in the commit
// that makes the change; nobody else is (TAINT-2, PLACE-3). Requests for
// devices and for whole nodes differ in p, so ask once for each.
//
// Capacity that comes free on an open node is an edge of its own, not this one.
func Edge(before, after Node, p Policy) Audience {
	was, is := Admits(before, p), Admits(after, p)
	switch {
	case is.Everyone && was.Everyone:
		return Audience{}
	case is.Everyone:
		return Audience{Everyone: true, Tenant: was.Tenant}
	case was.Includes(is.Tenant):
		return Audience{}
	}
	return is
}
