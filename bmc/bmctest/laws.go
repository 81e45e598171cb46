package bmctest

import "github.com/ingotmetal/ingot/bmc"

// Laws are all of them, by number. Numbers 54 to 58 belong to IPMI, whose driver
// brings their scenes.
func Laws() []Law {
	var out []Law
	for _, part := range [][]Law{pureLaws(), wireLaws(), accessLaws(), powerLaws(), answerLaws(), bootLaws(), mediaLaws(), taskLaws(), treeLaws(), liveLaws()} {
		out = append(out, part...)
	}
	return out
}

// features that laws need.
func needs(f ...bmc.Feature) []bmc.Feature { return f }

func in(s ...Scene) []Scene { return s }

func pureLaws() []Law {
	return []Law{
		{1, Pure, "options over 1 KiB are refused", nil, nil, optionsSize},
		{2, Pure, "an unknown option is refused", nil, nil, optionsUnknown},
		{3, Pure, "an option that looks like a credential is refused, at any depth and in any case", nil, nil, optionsSecret},
		{4, Pure, "options are checked without the network", nil, in(Plain), optionsOffline},
		{5, Pure, "what the driver says of itself is stable, and its sessions have what it declares", nil, in(Plain), infoStable},
	}
}

func wireLaws() []Law {
	return []Law{
		{6, Simulated, "a password is in no error, log, print, argument, variable or file", nil, in(Plain, LostReply, Garbage, OldPassword), passwordHidden},
		{7, Simulated, "credentials go to the endpoint's host and port and nowhere else", nil, in(LinksAway, LinksAt, LinksSlashes, MovedAway, LocationAway), staysHome},
		{8, Simulated, "a redirect on the same host is followed with its method", nil, in(MovedHere), movesHere},
		{9, Simulated, "links that lead elsewhere are refused", nil, in(LinksAway, LinksAt, LinksSlashes, LinksUp), linksRefused},
		{10, Simulated, "a peer with another key than the pin is sent nothing", nil, in(Impostor), strangerRefused},
		{11, Simulated, "a peer that signs itself needs a policy that says so", nil, in(SelfSigned), strangerRefused},
		{12, Simulated, "a body without end stops at a limit", nil, in(Endless), bodyLimited},
		{13, Simulated, "pages without end stop at a limit", needs(bmc.ReadInventory, bmc.ReadHealth, bmc.ReadFirmware), in(NextLoop), pagesLimited},
		{14, Simulated, "a slow body ends at the deadline", nil, in(Drip), dripEnds},
		{15, Simulated, "a caller that goes is let go within a second", nil, in(Drip), cancelReturns},
	}
}

func accessLaws() []Law {
	return []Law{
		{16, Simulated, "Close logs out with a deadline of its own, and twice is fine", nil, in(Plain), closeLogsOut},
		{17, Simulated, "many operations are one login", nil, in(Plain), oneLogin},
		{18, Simulated, "an expired session is made again once, and then no more", nil, in(Plain, Outcast, NoToken), loginAgain},
		{19, Simulated, "a wrong password is tried once", nil, in(Plain, OldPassword), wrongOnce},
		{20, Simulated, "a new version of the secret is tried", nil, in(Plain), versionUnlatches},
		{21, Simulated, "no free session is busy, and leaks none", nil, in(SessionsFull), sessionsFull},
		{22, Simulated, "no more requests run at once than declared", nil, in(Plain), concurrencyKept},
		{23, Simulated, "the interval between requests is kept", nil, in(Plain), intervalKept},
		{24, Simulated, "Retry-After is told, in seconds and as a date", nil, in(BusySeconds, BusyDate), retryAfter},
		{25, Simulated, "a BMC that starts is busy, and can be read later", nil, in(StartsUp), startsUp},
	}
}

func powerLaws() []Law {
	off, on := needs(bmc.PowerOff), needs(bmc.PowerOn)
	return []Law{
		{26, Simulated, "off while off succeeds and changes nothing", off, in(Plain, OffRefuses), offWhenOff},
		{27, Simulated, "on while on succeeds and changes nothing", on, in(Plain), onWhenOn},
		{28, Simulated, "off that comes late is waited for", off, in(LateOff, ChassisOn), offIsTrue},
		{29, Simulated, "off that flickers is not confirmed", off, in(Flicker), offIsTrue},
		{30, Simulated, "transitions and unknown states are told as such", needs(bmc.PowerState), in(SlowPower, Strange), transitionsTold},
		{31, Simulated, "cycle from off ends on", on, in(Plain), cycleFromOff},
		{32, Simulated, "cycle takes the power away", on, in(Plain), cycleLosesPower},
		{33, Simulated, "reset while off is a conflict", needs(bmc.PowerReset), in(Plain, OffRefuses), resetWhenOff},
		{34, Simulated, "graceful-off never forces", needs(bmc.PowerGraceful), in(DeafGuest), gracefulNeverForces},
		{35, Simulated, "what the BMC does not list is unsupported, and not sent", needs(bmc.PowerReset, bmc.PowerNMI, bmc.PowerGraceful), in(FewActions), unlistedNotSent},
		{36, Simulated, "what an ActionInfo lists is found", needs(bmc.PowerGraceful), in(HiddenTypes), hiddenFound},
	}
}

func answerLaws() []Law {
	return []Law{
		{37, Simulated, "a lost reply is indeterminate, and nothing is sent again", needs(bmc.PowerReset), in(LostReply), lostReply},
		{38, Simulated, "nmi is sent once", needs(bmc.PowerNMI), in(Plain, LostReply), nmiOnce},
		{59, Simulated, "a BMC that restarts in the middle is survived", needs(bmc.PowerOff), in(Plain), restartSurvived},
	}
}

func bootLaws() []Law {
	return []Law{
		{39, Simulated, "boot once from PXE by UEFI reads back", needs(bmc.BootOnce), in(Plain), bootOnce},
		{40, Simulated, "once is spent by the boot", needs(bmc.BootOnce), in(Plain), bootSpent},
		{41, Simulated, "an override that does not stand is an error, and is not faked", needs(bmc.BootOnce), in(NoContinuous, OnceIgnored), bootNotFaked},
		{42, Simulated, "entity tags of any kind are lived with", needs(bmc.BootOnce), in(ETagStrong, ETagWeak, ETagGzip, ETagQuoted, ETagEmpty, ETagRequired), bootOnce},
		{43, Simulated, "a boot override goes to the settings object where that takes it", needs(bmc.BootOnce), in(SettingsBoot), bootOnce},
	}
}

func mediaLaws() []Law {
	return []Law{
		{44, Simulated, "a medium is inserted with the fields that the BMC wants", needs(bmc.MediaInsert), in(Plain, MediaTransfer, MediaMethod, MediaUser, MediaPatch), mediaInserted},
		{45, Simulated, "slots that take no URL are left alone", needs(bmc.MediaInsert), in(DeafSlots), mediaInserted},
		{46, Simulated, "an old medium is out before the new one is in", needs(bmc.MediaInsert), in(StaleMedia), mediaInserted},
	}
}

func taskLaws() []Law {
	return []Law{
		{47, Simulated, "a task that vanishes, fails or stays new is judged by its effect", needs(bmc.PowerOff), in(TaskVanishes, TaskFails, TaskStaysNew), tasksJudged},
	}
}

func liveLaws() []Law {
	return []Law{
		{60, Live, "a probe changes nothing", nil, in(Plain), probeReads},
		{61, Destructive, "every verb reaches its end state from on and from off", needs(bmc.PowerOn), in(Plain), powerTable},
		{62, Destructive, "a password is rotated and rotated back", needs(bmc.RotateAccount), in(Plain), rotates},
	}
}
