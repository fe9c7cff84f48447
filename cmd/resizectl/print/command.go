package print

import (
	"regexp"
	"slices"
	"strings"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

// Command is a command of kubectl or of this program, by its words. People copy it and run it, so its words are this program's own and the
// names of objects: none is read in text that others write.
type Command []string

// unfilled matches a word that only a person can fill in.
var unfilled = regexp.MustCompile(`\b[A-Z]{3,}\b`)

// CommandOf returns the command of a format of this program, such as "kubectl describe pod POD -n NAMESPACE", with the arguments that stand
// for its words in capitals; nil if one of them has none.
func CommandOf(format string, arguments map[string]Command) Command {
	var c Command
	for _, word := range strings.Fields(format) {
		filled := arguments[word]
		switch {
		case filled != nil:
			c = append(c, filled...)
		case unfilled.MatchString(word):
			return nil
		default:
			c = append(c, word)
		}
	}
	return c
}

// Argument returns a name as an argument; nil if it would be none, but a flag or something that people do not see.
func Argument(name string) Command {
	if name == "" || strings.HasPrefix(name, "-") || OneLine(name) != name {
		return nil
	}
	return Command{name}
}

// ScopeArguments returns the arguments that name a scope; nil if its names are no arguments.
func ScopeArguments(s *workloadresizerv1.HoldScope) Command {
	name := ""
	switch scope := s.GetScope().(type) {
	case *workloadresizerv1.HoldScope_Pod:
		name = scope.Pod.GetName()
	case *workloadresizerv1.HoldScope_Workload:
		name = Type(scope.Workload.GetKind()) + "/" + scope.Workload.GetName()
	case *workloadresizerv1.HoldScope_AllNamespaces:
		return Command{"-A"}
	}
	of, in := Argument(name), Argument(ScopeNamespace(s))
	if in == nil || name != "" && of == nil {
		return nil
	}
	return slices.Concat(of, Command{"-n"}, in)
}

// Command returns a command as users must write it for the selected cluster.
func (o *Output) Command(c Command) string {
	words := Each(c[1:], Quoted)
	return o.Commands(c[0]+" ") + strings.Join(words, " ")
}

// plainArgument matches arguments that mean the same to a shell without quotes.
var plainArgument = regexp.MustCompile(`^[A-Za-z0-9/-][A-Za-z0-9._/@=:,-]*$`)

// Quoted returns an argument for a shell.
func Quoted(text string) string {
	if plainArgument.MatchString(text) {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}
