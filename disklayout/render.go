package disklayout

import (
	"fmt"
	"strconv"
	"strings"
	"text/tabwriter"
	"unicode"
)

// Render is the plan as a page of text for the person who approves it: what is
// written, what dies, what stays, warnings last and the digest above all. What
// a machine announced is quoted where it could be mistaken for something else.
func (p *Plan) Render() string {
	var b strings.Builder
	fmt.Fprintf(&b, "plan    %s\nlayout  %s\nserver  %s\n", p.Digest, p.Layout, p.Server)
	if p.Image != "" {
		fmt.Fprintf(&b, "image   %s\n", plain(p.Image))
	}
	if p.Boot != "" {
		fmt.Fprintf(&b, "boot    %s\n", plain(p.Boot))
	}
	p.renderDisks(&b)
	p.renderTable(&b)
	p.renderPool(&b)
	p.renderLosses(&b)
	p.renderUnused(&b)
	if len(p.Warnings) > 0 {
		b.WriteString("\nWARNINGS\n")
		for _, w := range p.Warnings {
			fmt.Fprintf(&b, "  %s: %s\n", or(plain(w.Serial), "a disk without a serial"), w.Text)
		}
	}
	return b.String()
}

// columns writes rows, the first of them headings, below a title.
func columns(b *strings.Builder, title string, rows [][]string) {
	b.WriteString("\n" + title + "\n")
	var text strings.Builder
	w := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	for _, r := range rows {
		w.Write([]byte("  " + strings.Join(r, "\t") + "\n")) // a strings.Builder never fails
	}
	w.Flush()
	for line := range strings.Lines(text.String()) {
		b.WriteString(strings.TrimRight(line, " \n") + "\n")
	}
}

func (p *Plan) renderDisks(b *strings.Builder) {
	rows := [][]string{{"SERIAL", "NAME", "MODEL", "SIZE", "SECTORS", "TRANSPORT"}}
	for i := range p.Disks {
		w := &p.Disks[i]
		rows = append(rows, []string{plain(w.Serial), plain(w.Name), plain(w.Model), human(w.Size),
			fmt.Sprintf("%d/%d", w.LogicalSector, w.PhysicalSector), plain(w.Transport)})
	}
	columns(b, "WRITTEN", rows)
}

func (p *Plan) renderTable(b *strings.Builder) {
	if p.Table == nil {
		return
	}
	rows := [][]string{{"#", "NAME", "SIZE", "FIRST LBA", "LAST LBA", "UUID"}}
	for _, o := range p.Table.Parts {
		rows = append(rows, []string{strconv.Itoa(o.Number), o.Name, human(o.Size),
			strconv.FormatUint(o.First, 10), strconv.FormatUint(o.Last, 10), o.UUID.String()})
	}
	title := fmt.Sprintf("GPT, sectors of %d bytes", p.Table.SectorSize)
	if p.Table.Free > 0 {
		title += ", " + human(p.Table.Free) + " free at the end"
	}
	columns(b, title, rows)
}

func (p *Plan) renderPool(b *strings.Builder) {
	if p.Pool == nil {
		return
	}
	rows := [][]string{{"VDEV", "SIZE", "DISKS"}}
	for _, v := range p.Pool.Vdevs {
		var names []string
		for _, s := range v.Serials {
			names = append(names, plain(s))
		}
		rows = append(rows, []string{v.Kind, human(v.Capacity), strings.Join(names, " ")})
	}
	columns(b, fmt.Sprintf("POOL %s, %s, ashift %d, compression %s", p.Pool.Name, human(p.Pool.Capacity), p.Pool.Ashift, p.Pool.Compression), rows)
}

// renderLosses says what dies; where nothing does, it says that.
func (p *Plan) renderLosses(b *strings.Builder) {
	rows := [][]string{{"SERIAL", "WHAT", "WHOSE"}}
	for i := range p.Disks {
		w := &p.Disks[i]
		for j := range w.Lost {
			rows = append(rows, []string{plain(w.Serial), w.Lost[j].describe(), []string{"foreign, overridden", "this server's"}[truth(w.Lost[j].Own)]})
		}
		for _, o := range w.LostPartitions {
			what := fmt.Sprintf("partition %d, %s", o.Number, human(o.Size))
			if o.Label != "" {
				what += ", " + plain(o.Label)
			}
			rows = append(rows, []string{plain(w.Serial), what, "with its table"})
		}
	}
	if len(rows) == 1 {
		b.WriteString("\nDIES\n  nothing was found on the disks that are written\n")
		return
	}
	columns(b, "DIES", rows)
}

func (p *Plan) renderUnused(b *strings.Builder) {
	if len(p.Unused) == 0 {
		b.WriteString("\nUNUSED\n  no disk\n")
		return
	}
	rows := [][]string{{"SERIAL", "NAME", "MODEL", "SIZE", "WHY", "HOLDS"}}
	for _, u := range p.Unused {
		rows = append(rows, []string{or(plain(u.Serial), "-"), plain(u.Name), or(plain(u.Model), "-"), human(u.Size), string(u.Why), or(u.Holds, "-")})
	}
	columns(b, "UNUSED", rows)
}

// human is a size in binary units with one digit after the point, rounded down;
// whole numbers of a unit stay whole.
func human(n uint64) string {
	unit, names := uint64(1), []string{"B", "KiB", "MiB", "GiB", "TiB", "PiB"}
	for len(names) > 1 && n/unit >= 1024 {
		unit, names = unit*1024, names[1:]
	}
	if n%unit == 0 {
		return fmt.Sprintf("%d %s", n/unit, names[0])
	}
	return fmt.Sprintf("%d.%d %s", n/unit, n%unit*10/unit, names[0])
}

// plain is s where it is plain text, and quoted where it holds anything that
// does not print, or quotes: a machine chooses these texts, and an operator
// reads them.
func plain(s string) string {
	odd := func(r rune) bool { return !unicode.IsPrint(r) || r == '"' || r == unicode.ReplacementChar }
	if strings.ContainsFunc(s, odd) {
		return quoted(s)
	}
	return s
}

// quoted is s in quotes, at most its first MaxText bytes.
func quoted(s string) string {
	if len(s) > MaxText {
		return strconv.Quote(s[:MaxText]) + "..."
	}
	return strconv.Quote(s)
}
