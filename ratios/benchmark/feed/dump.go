package feed

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"strings"
)

// isDump reports whether text begins like the SQL that SQLite writes with .dump.
func isDump(head []byte) bool {
	for _, begin := range []string{"PRAGMA ", "BEGIN TRANSACTION", "CREATE TABLE", "INSERT INTO"} {
		if bytes.HasPrefix(head, []byte(begin)) {
			return true
		}
	}
	return false
}

// dump reads the rows of some tables from SQL that SQLite writes with .dump: one statement
// per line, except for those that create tables, which name the columns.
func dump(in *bufio.Reader, wanted func(table string) bool, take func(line int, table string, r record, fault *Fault)) error {
	columns := map[string][]string{}
	creating, definition := "", ""
	err := lines(in, func(row rawRow) error {
		if row.fault != nil {
			take(row.line, "", nil, row.fault)
			return nil
		}
		if creating == "" {
			if rest, ok := bytes.CutPrefix(row.text, []byte("CREATE TABLE ")); ok {
				name := tableName(rest)
				if wanted(name) {
					creating, definition = name, string(rest)
				}
			} else if rest, ok := bytes.CutPrefix(row.text, []byte("INSERT INTO ")); ok {
				name := tableName(rest)
				if wanted(name) {
					insert(row.line, name, columns[name], rest, take)
				}
				return nil
			}
		} else {
			definition += "\n" + string(row.text)
		}
		if creating == "" {
			return nil
		}
		if len(definition) > maxRow {
			return fmt.Errorf("line %d: the definition of table %s does not end", row.line, creating)
		}
		if names, complete := columnNames(definition); complete {
			columns[creating], creating = names, ""
		}
		return nil
	})
	if err == nil && creating != "" {
		return fmt.Errorf("the dump ends within the definition of table %s", creating)
	}
	return err
}

// tableName returns the name at the beginning of text, which may be quoted.
func tableName(text []byte) string {
	text = bytes.TrimPrefix(text, []byte("IF NOT EXISTS "))
	end := bytes.IndexAny(text, " (\t")
	if end < 0 {
		end = len(text)
	}
	return strings.Trim(string(text[:end]), "\"'`[]")
}

// columnNames returns the columns of a definition such as "a (b TEXT, PRIMARY KEY (b))"; false
// if it is not complete.
func columnNames(definition string) (names []string, complete bool) {
	_, inner, found := strings.Cut(definition, "(")
	if !found {
		return nil, false
	}
	depth, begin := 0, 0
	add := func(part string) {
		words := strings.Fields(part)
		if len(words) == 0 {
			return
		}
		switch strings.ToUpper(words[0]) {
		case "PRIMARY", "FOREIGN", "UNIQUE", "CONSTRAINT", "CHECK":
		default:
			names = append(names, strings.Trim(words[0], "\"'`[]"))
		}
	}
	for i := range len(inner) {
		switch b := inner[i]; {
		case b == '(':
			depth++
		case b == ')' && depth == 0:
			add(inner[begin:i])
			return names, true
		case b == ')':
			depth--
		case b == ',' && depth == 0:
			add(inner[begin:i])
			begin = i + 1
		}
	}
	return nil, false
}

var errNoValues = errors.New("has no values in parentheses")

// insert reads one INSERT statement, whose text begins with the table.
func insert(line int, name string, columns []string, text []byte, take func(int, string, record, *Fault)) {
	values, err := sqlValues(text)
	if err == nil && len(values) != len(columns) {
		err = fmt.Errorf("must have %d values like its table, not %d", len(columns), len(values))
	}
	if err != nil {
		take(line, name, nil, &Fault{Reason: err.Error()})
		return
	}
	take(line, name, func(column string) string {
		for i, c := range columns {
			if c == column {
				return values[i]
			}
		}
		return ""
	}, nil)
}

// sqlValues returns the values of an INSERT statement as text; NULL is empty.
func sqlValues(text []byte) ([]string, error) {
	at := bytes.Index(text, []byte("VALUES"))
	if at < 0 {
		return nil, errNoValues
	}
	s := &sqlScanner{rest: bytes.TrimLeft(text[at+len("VALUES"):], " ")}
	if !s.next('(') {
		return nil, errNoValues
	}
	var values []string
	for {
		value, ok := s.value(0)
		if !ok {
			return nil, errors.New("has a value that is not closed")
		}
		values = append(values, value)
		if s.next(')') {
			return values, nil
		}
		if !s.next(',') {
			return nil, errors.New("has something between two values")
		}
	}
}

// sqlScanner reads the values of one statement.
type sqlScanner struct{ rest []byte }

// next skips a byte if it comes next.
func (s *sqlScanner) next(b byte) bool {
	if len(s.rest) == 0 || s.rest[0] != b {
		return false
	}
	s.rest = s.rest[1:]
	return true
}

// maxCalls is how deep calls can be nested. SQLite nests two.
const maxCalls = 4

// value reads a value. For a call such as replace('a\nb','\n',char(10)), which SQLite writes for
// text with line breaks, it returns the first argument.
func (s *sqlScanner) value(depth int) (string, bool) {
	if s.next('\'') {
		return s.quoted()
	}
	end := bytes.IndexAny(s.rest, ",()")
	if end < 0 || depth > maxCalls {
		return "", false
	}
	word := string(bytes.TrimSpace(s.rest[:end]))
	s.rest = s.rest[end:]
	if !s.next('(') {
		if word == "NULL" {
			word = ""
		}
		return word, true
	}
	first, ok := s.value(depth + 1)
	for ok && s.next(',') {
		_, ok = s.value(depth + 1)
	}
	return first, ok && s.next(')')
}

// quoted reads the rest of a string in quotes, in which two quotes are one.
func (s *sqlScanner) quoted() (string, bool) {
	var text []byte
	for {
		end := bytes.IndexByte(s.rest, '\'')
		if end < 0 {
			return "", false
		}
		text = append(text, s.rest[:end]...)
		s.rest = s.rest[end+1:]
		if !s.next('\'') {
			return string(text), true
		}
		text = append(text, '\'')
	}
}
