package feed

import (
	"bufio"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// table reads CSV whose first line names the columns in any order, and calls take with each
// row. A row is one line: quoted values cannot continue on the next line, so that a missing
// quote affects one row only. It is an error if needed columns are missing. The named numbers
// may have decimal commas where commas do not separate columns.
func table(in *bufio.Reader, needed, numbers []string, take func(line int, r record, fault *Fault)) error {
	rows := newCSVLines()
	begun := false
	parse := func(text []byte) ([]string, *Fault) {
		if begun {
			return rows.split(text)
		}
		names, fault := rows.header(text, needed)
		begun = names != nil
		return names, fault
	}
	return rowsOf(in, needed, parse, func(line int, r record, fault *Fault) {
		if fault == nil && rows.reader.Comma != ',' {
			r, fault = r.pointed(numbers)
		}
		take(line, r, fault)
	})
}

// rowsOf reads a table whose lines parse splits into values; no values and no fault mean that the
// line is not a row.
func rowsOf(in *bufio.Reader, needed []string, parse func([]byte) ([]string, *Fault), take func(line int, r record, fault *Fault)) error {
	var columns map[string]int
	err := lines(in, func(row rawRow) error {
		fault := row.fault
		var values []string
		if fault == nil {
			values, fault = parse(row.text)
		}
		if values == nil && fault == nil {
			return nil
		}
		if columns == nil {
			if fault != nil {
				return fmt.Errorf("line %d: the header %s", row.line, fault.Reason)
			}
			var err error
			columns, err = header(values, needed)
			return err
		}
		if fault == nil && len(values) != len(columns) {
			fault = &Fault{Reason: fmt.Sprintf("must have %d values like the header, not %d", len(columns), len(values))}
		}
		take(row.line, func(name string) string {
			if i, ok := columns[column(name)]; ok {
				return strings.TrimSpace(values[i])
			}
			return ""
		}, fault)
		return nil
	})
	if err == nil && columns == nil {
		err = errors.New("the table is empty: it must begin with a header")
	}
	return err
}

// header returns where each column is.
func header(names, needed []string) (map[string]int, error) {
	columns := map[string]int{}
	for i, name := range names {
		if _, twice := columns[column(name)]; twice {
			return nil, fmt.Errorf("the header names the column %q twice", name)
		}
		columns[column(name)] = i
	}
	if absent := missing(names, needed); len(absent) > 0 {
		return nil, fmt.Errorf("the header has no column %s%s", quotedAll(absent), separated(names))
	}
	return columns, nil
}

// missing returns the needed columns that are not among the names.
func missing(names, needed []string) []string {
	return slices.DeleteFunc(slices.Clone(needed), func(name string) bool {
		return slices.ContainsFunc(names, func(found string) bool { return column(found) == column(name) })
	})
}

// separated returns what to do about missing columns. If the names are one text, something else than the
// known separators may separate them.
func separated(names []string) string {
	if len(names) == 1 && strings.ContainsAny(names[0], "|:") {
		return ": separate the columns with commas"
	}
	return ": the first line must name the columns"
}

// column normalizes the name of a column: notations differ in case and spaces.
func column(name string) string {
	return strings.ToLower(strings.Join(strings.Fields(name), ""))
}
