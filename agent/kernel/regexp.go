package kernel

import "regexp"

const regexpMB = textBytes / 1e6

var slowErrors = regexp.MustCompile(`(?m)^(\S+) - \[([^\]]+)\] "GET (\S+) HTTP/1\.1" ([45]\d\d) (\d+) (0\.[5-9]\d*)$`)

// slowErrorsInText is the number of matches. The test counts them in a different way.
const slowErrorsInText = 392

// newRegexp searches a log, as routers, proxies and log shippers do.
func newRegexp(int) Work {
	text := sharedText()
	return func() error {
		if len(slowErrors.FindAllSubmatchIndex(text, -1)) != slowErrorsInText {
			return errWrong
		}
		return nil
	}
}
