package api

import "github.com/ingotmetal/ingot/identity/keys"

// All is the table: every operation once, in the order of the documentation.
// The slice is the caller's.
func All() []Any {
	var all []Any
	for _, part := range [][]Any{registrations(), setups(), booters(), boots(), accesses(), nodes(), metals(), logs()} {
		all = append(all, part...)
	}
	return all
}

// read, write and destroy are what most operations of people are.
func read(name, path string, action keys.Action, summary string, errors ...string) Def {
	return Def{Name: name, Method: "GET", Path: path, Summary: summary, Action: action, Auth: Key, Errors: errors}
}

func write(name, path string, action keys.Action, summary string, errors ...string) Def {
	d := read(name, path, action, summary, errors...)
	d.Method, d.Mutates = "POST", true
	return d
}

func destroy(name, path string, action keys.Action, summary string, errors ...string) Def {
	d := write(name, path, action, summary, errors...)
	d.Destructive = true
	return d
}

// with methods change one thing of a declaration.
func (d Def) by(a Auth) Def         { d.Auth = a; return d }
func (d Def) via(method string) Def { d.Method = method; return d }
func (d Def) pure() Def             { d.Mutates = false; return d }
func (d Def) waits() Def            { d.Waits = true; return d }
func (d Def) upTo(limit int64) Def  { d.Limit = limit; return d }
func (d Def) streams(s Stream) Def  { d.Stream = s; return d }
