package prometheus

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// matcher is the beginning of a matcher, up to its value.
var matcher = regexp.MustCompile(`^\s*([a-zA-Z_][a-zA-Z0-9_]*)\s*(=~|!~|!=|=)\s*`)

// parseSelector reads label matchers as they are written in PromQL, without braces, and returns them
// in the form that the queries need: each followed by a comma. They are written again from their
// parts, so that nothing else can become part of a query.
func parseSelector(text string) (string, error) {
	var b strings.Builder
	for rest := text; strings.TrimSpace(rest) != ""; {
		parts := matcher.FindStringSubmatch(rest)
		if parts == nil {
			return "", fmt.Errorf("%q is not a matcher such as cluster=\"a\"", brief(strings.TrimSpace(rest)))
		}
		rest = rest[len(parts[0]):]
		quoted, err := strconv.QuotedPrefix(rest)
		value, err2 := strconv.Unquote(quoted)
		if err != nil || err2 != nil || quoted[0] == '\'' {
			return "", fmt.Errorf("the value of %s is not in double quotes, as in cluster=\"a\"", parts[1])
		}
		if parts[1] == "__name__" {
			return "", errors.New("__name__ cannot be selected: the metrics are known")
		}
		if strings.HasSuffix(parts[2], "~") {
			if _, err := regexp.Compile(value); err != nil {
				return "", fmt.Errorf("the value of %s: %w", parts[1], err)
			}
		}
		rest = strings.TrimLeft(rest[len(quoted):], " \t\n")
		after, comma := strings.CutPrefix(rest, ",")
		if !comma && rest != "" {
			return "", fmt.Errorf("a comma is missing before %q", brief(rest))
		}
		rest = after
		b.WriteString(parts[1] + parts[2] + strconv.Quote(value) + ",")
	}
	return b.String(), nil
}
