package pages

import (
	"math"
	"regexp"
	"strconv"
	"strings"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
)

// unit is a unit of a resource.
type unit struct {
	// suffix is how amounts in it end, and size is how much it is in cores or bytes.
	suffix string
	size   float64
	// digits is how many digits they have after the point at most.
	digits int
}

// units are the units of a resource: a small one, and one for columns with an amount of at least one of it. If a column of a live page
// changes its unit, all columns after it move, so it does so at the smallest amount that makes sense.
type units struct{ small, large unit }

// unitsOf are the units of each resource.
var unitsOf = map[string]units{
	print.CPU.Title:    {unit{"m", 0.001, 0}, unit{"", 1, 3}},
	print.Memory.Title: {unit{"Mi", 1 << 20, 0}, unit{"Gi", 1 << 30, 3}},
}

// between is between two amounts of a cell, of which the second one has replaced the first.
const between = " → "

// amount is an amount as commands write it for people.
var amount = regexp.MustCompile(`^-?\d+(\.\d+)?([munkMGTPE]|[KMGTPE]i)?$`)

// oneUnit returns a table of amounts with those of each column about a resource in one unit, so that they can be compared at a glance. It
// leaves a column as it is that has anything else, or amounts that would not differ from 0 in the unit. Tables of ratios, which look like
// amounts, must not come here.
func (t table) oneUnit() table {
	for i, c := range t.Columns {
		title, _, _ := strings.Cut(c.Name, " ")
		of, ok := unitsOf[title]
		if !ok || c.Class != "number" {
			continue
		}
		texts := make([]string, len(t.Rows))
		for row := range t.Rows {
			texts[row] = t.Rows[row].Cells[i].Text
		}
		for row, text := range inOneUnit(of, texts) {
			t.Rows[row].Cells[i].Text = text
		}
	}
	return t
}

// inOneUnit returns texts with their amounts in one unit, or as they are.
func inOneUnit(of units, texts []string) []string {
	largest, smallest := 0.0, math.Inf(1)
	each := func(text string, each func(part string) string) string {
		parts := strings.Split(text, between)
		for i, part := range parts {
			if part != print.Absent {
				parts[i] = each(part)
			}
		}
		return strings.Join(parts, between)
	}
	known := true
	for _, text := range texts {
		each(text, func(part string) string {
			if known = known && amount.MatchString(part); !known {
				return part
			}
			n := math.Abs(print.Number(part, 1))
			if largest = max(largest, n); n > 0 {
				smallest = min(smallest, n)
			}
			return part
		})
	}
	in := of.small
	if largest >= of.large.size {
		in = of.large
	}
	least := in.size * math.Pow10(-in.digits)
	if !known || largest == 0 || smallest < least {
		return texts
	}
	written := make([]string, len(texts))
	for i, text := range texts {
		written[i] = each(text, in.write)
	}
	return written
}

// write writes an amount in the unit.
func (u unit) write(amount string) string {
	n := print.Number(amount, u.size)
	if n == 0 {
		return amount
	}
	text := strconv.FormatFloat(n, 'f', u.digits, 64)
	if u.digits > 0 {
		text = strings.TrimSuffix(strings.TrimRight(text, "0"), ".")
	}
	return text + u.suffix
}
