package feed

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// table reads CSV whose first line names the columns in any order, and calls take with each
// row. A row is one line: quoted values cannot continue on the next line, so that a missing
// quote affects one row only. It is an error if needed columns are missing.
func table(in *bufio.Reader, needed []string, take func(line int, r record, fault *Fault)) error {
	// One CSV reader reads the lines one by one.
	line := &bytes.Reader{}
	rows := csv.NewReader(line)
	rows.FieldsPerRecord = -1 // Checked below, for a fault with the line.
	rows.TrimLeadingSpace = true
	rows.ReuseRecord = true
	parse := func(text []byte) ([]string, *Fault) {
		line.Reset(append(text, '\n'))
		values, err := rows.Read()
		if err != nil {
			if wrong, ok := errors.AsType[*csv.ParseError](err); ok {
				err = wrong.Err // Drop its line number, which is not the line in the feed.
			}
			return nil, &Fault{Reason: "is not CSV: " + err.Error()}
		}
		return values, nil
	}

	return rowsOf(in, needed, parse, take)
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
	missing := slices.DeleteFunc(slices.Clone(needed), func(name string) bool {
		_, found := columns[column(name)]
		return found
	})
	if len(missing) > 0 {
		return nil, fmt.Errorf("the header has no column %s%s", quotedAll(missing), separated(names))
	}
	return columns, nil
}

// separated returns what to do if the names are one text because something else than commas
// separates them.
func separated(names []string) string {
	if len(names) == 1 && strings.ContainsAny(names[0], ";\t") {
		return ": separate the columns with commas"
	}
	return ""
}

// column normalizes the name of a column: notations differ in case and spaces.
func column(name string) string {
	return strings.ToLower(strings.Join(strings.Fields(name), ""))
}
