package admin

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/ingotmetal/ingot/cmd/api"
	"github.com/ingotmetal/ingot/cmd/daemon"
	"github.com/ingotmetal/ingot/cmd/internal/program"
)

// local is a client of the running control plane on this host, by its socket.
func (t *tool) local(c daemon.Config) *api.Client {
	dial := func(context.Context, string, string) (net.Conn, error) { return t.Dial("unix", c.Listen.Unix) }
	return &api.Client{Base: "http://ingotd", HTTP: &http.Client{Transport: &http.Transport{DialContext: dial}}, UserAgent: "ingotd/" + Version}
}

func (t *tool) operatorCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "operator", Short: "Make and change the operators of the site",
		Long: "Operators are made on the control plane's own host, by its local socket: whoever\nis root here may administer the site. The control plane must be running."}
	cmd.AddCommand(t.operatorAdd(), t.operatorPassword(), t.operatorTOTP(), t.operatorEnd("disable", "Let an operator sign in no more, and end its sessions"), t.operatorEnd("remove", "Remove an operator"), t.operatorList())
	return cmd
}

// password reads a new password: from a file, from a pipe, or twice from a terminal.
func (t *tool) password(file string) (api.Secret, error) {
	if file != "" && file != "-" {
		f, err := os.Open(file)
		if err != nil {
			return "", err
		}
		defer f.Close()
		return firstLine(f)
	}
	tty, ok := t.In.(*os.File)
	if !ok || !term.IsTerminal(int(tty.Fd())) {
		if file == "" {
			return "", &program.Usage{Err: errors.New("there is no terminal to type a password at; name a file with --password-file, or - for standard input")}
		}
		return firstLine(t.In)
	}
	first, err := t.hidden(tty, "new password: ")
	if err != nil {
		return "", err
	}
	again, err := t.hidden(tty, "once more: ")
	if err == nil && first != again {
		err = &program.Usage{Err: errors.New("the two passwords differ")}
	}
	return first, err
}

func (t *tool) hidden(tty *os.File, prompt string) (api.Secret, error) {
	fmt.Fprint(t.Err, prompt)
	typed, err := term.ReadPassword(int(tty.Fd()))
	fmt.Fprintln(t.Err)
	return api.Secret(typed), err
}

// firstLine is a password in a file: its first line.
func firstLine(r io.Reader) (api.Secret, error) {
	line, err := bufio.NewReader(io.LimitReader(r, 4096)).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return "", err
	}
	return api.Secret(strings.TrimRight(line, "\r\n")), nil
}

func (t *tool) operatorAdd() *cobra.Command {
	var file string
	cmd := &cobra.Command{Use: "add NAME", Short: "Make an operator", Args: cobra.ExactArgs(1), RunE: func(cmd *cobra.Command, args []string) error {
		c, err := t.load(cmd)
		if err != nil {
			return err
		}
		in := api.AddOperator{}
		if in.Body.Password, err = t.password(file); err != nil {
			return err
		}
		in.Body.Name = args[0]
		out, err := api.OperatorAdd.Call(cmd.Context(), t.local(c), &in)
		if err != nil {
			return err
		}
		return t.say(out, "%s may sign in; next: ingotd operator totp %s", args[0], args[0])
	}}
	cmd.Flags().StringVar(&file, "password-file", "", "file whose first line is the password; - for standard input")
	return cmd
}

func (t *tool) operatorPassword() *cobra.Command {
	var file string
	cmd := &cobra.Command{Use: "password NAME", Short: "Set an operator's password, and end its sessions", Args: cobra.ExactArgs(1), RunE: func(cmd *cobra.Command, args []string) error {
		c, err := t.load(cmd)
		if err != nil {
			return err
		}
		in := api.SetOperatorPassword{}
		in.Operator = args[0]
		if in.Body.Password, err = t.password(file); err != nil {
			return err
		}
		out, err := api.OperatorPassword.Call(cmd.Context(), t.local(c), &in)
		if err != nil {
			return err
		}
		return t.say(out, "the password of %s is set; its sessions have ended", args[0])
	}}
	cmd.Flags().StringVar(&file, "password-file", "", "file whose first line is the password; - for standard input")
	return cmd
}

func (t *tool) operatorTOTP() *cobra.Command {
	var code string
	var drop bool
	cmd := &cobra.Command{Use: "totp NAME", Short: "Enrol a second factor, confirm it with --code, or take it away with --drop", Args: cobra.ExactArgs(1), RunE: func(cmd *cobra.Command, args []string) error {
		c, err := t.load(cmd)
		if err != nil {
			return err
		}
		in := api.EnrolTOTP{}
		in.Operator, in.Body.Code, in.Body.Drop = args[0], api.Secret(code), drop
		out, err := api.OperatorTOTP.Call(cmd.Context(), t.local(c), &in)
		switch {
		case err != nil:
			return err
		case out.URI != "":
			return t.say(out, "%s\nnext: put this into an authenticator, then ingotd operator totp %s --code CODE", out.URI.Show(), args[0])
		case drop:
			return t.say(out, "%s signs in by password alone", args[0])
		}
		return t.say(out, "%s signs in with a code from now on", args[0])
	}}
	cmd.Flags().StringVar(&code, "code", "", "the first code of the authenticator")
	cmd.Flags().BoolVar(&drop, "drop", false, "take the second factor away: the way back for who lost it")
	return cmd
}

// operatorEnd is disable or remove.
func (t *tool) operatorEnd(verb, short string) *cobra.Command {
	var yes bool
	cmd := &cobra.Command{Use: verb + " NAME", Short: short, Args: cobra.ExactArgs(1), RunE: func(cmd *cobra.Command, args []string) error {
		if !yes {
			return &program.Usage{Err: fmt.Errorf("%s ends the sessions of %s; repeat it with --yes", verb, args[0])}
		}
		c, err := t.load(cmd)
		if err != nil {
			return err
		}
		in := api.OperatorChange{OperatorRef: api.OperatorRef{Operator: args[0]}}
		var out any
		if verb == "disable" {
			out, err = api.OperatorDisable.Call(cmd.Context(), t.local(c), &in)
		} else {
			out, err = api.OperatorRemove.Call(cmd.Context(), t.local(c), &in)
		}
		if err != nil {
			return err
		}
		return t.say(out, "%s: %sd", args[0], strings.TrimSuffix(verb, "e")+"e")
	}}
	cmd.Flags().BoolVar(&yes, "yes", false, "do it")
	return cmd
}

func (t *tool) operatorList() *cobra.Command {
	return &cobra.Command{Use: "list", Short: "List the operators", Args: cobra.NoArgs, RunE: func(cmd *cobra.Command, _ []string) error {
		c, err := t.load(cmd)
		if err != nil {
			return err
		}
		out, err := api.OperatorListing.Call(cmd.Context(), t.local(c), &api.OperatorList{})
		if err != nil {
			return err
		}
		var lines []string
		for _, o := range out.Operators {
			state := "active"
			if !o.Disabled.IsZero() {
				state = "disabled"
			}
			lines = append(lines, fmt.Sprintf("%-24s %-9s second factor: %t", o.Name, state, o.TOTP))
		}
		return t.say(out, "%s", strings.Join(lines, "\n"))
	}}
}
