package statemachinetest

import (
	"fmt"
	"runtime"
)

func (r *recorder) Helper()             {}
func (r *recorder) Log(...any)          {}
func (r *recorder) Logf(string, ...any) {}
func (r *recorder) Failed() bool        { return r.failed }
func (r *recorder) Fail()               { r.failed = true }

func (r *recorder) FailNow() {
	r.failed = true
	runtime.Goexit()
}

func (r *recorder) Error(a ...any) {
	r.failed, r.errors = true, append(r.errors, fmt.Sprint(a...))
}

func (r *recorder) Errorf(format string, a ...any) { r.Error(fmt.Sprintf(format, a...)) }

func (r *recorder) Fatal(a ...any) {
	r.Error(a...)
	runtime.Goexit()
}

func (r *recorder) Fatalf(format string, a ...any) { r.Fatal(fmt.Sprintf(format, a...)) }
