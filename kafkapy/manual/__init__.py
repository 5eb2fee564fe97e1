"""The manual: a page for each command, made from the command itself.

page.py        what a page says, section by section
roff.py        a page as man takes it: what man/ holds
plain_text.py  a page as text, where there is no man
"""
